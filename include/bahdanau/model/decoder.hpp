// The decoder: at each step it attends with the top layer's previous hidden state, and feeds the context to
// the cells together with the embedding of the previous token.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <bahdanau/autograd/ops/best.hpp>
#include <bahdanau/cell/cell.hpp>
#include <bahdanau/cell/recurrent_layer.hpp>
#include <bahdanau/model/attend.hpp>
#include <bahdanau/model/batch.hpp>
#include <bahdanau/model/config.hpp>
#include <bahdanau/model/dropout_plan.hpp>
#include <bahdanau/score/score.hpp>

namespace bahdanau::detail {

/// What a decoder attends to and starts from, on a tape.
template <class C, Backend B>
struct DecoderSource {
  Memory<B> memory;
  std::span<const Index> begin, length;    // the keys of each sentence
  std::span<const CellState<C, B>> first;  // one a layer, parts of [sentences, hidden]
  std::span<const Index> row_of_sentence;  // the row of `first` that belongs to each sentence
};

/// A teacher-forced pass over target sentences, with the lists that it reuses. Rows are packed by target
/// length.
template <class C, Backend B>
struct DecoderPass {
  Packing packing;
  Variable<B> outputs;               // [target tokens, hidden]: the top layer's
  std::vector<Variable<B>> weights;  // attention of each step [pairs of the rows that run]
  // One a layer, parts of [rows, hidden]: of the rows that run, and, where the tape does not record, each
  // row's after its last token.
  std::vector<CellState<C, B>> states, ended;
  Spans<B> spans;

  std::vector<Index> ids, names, rows, begin, length, packing_lists;  // scratch
  std::vector<std::size_t> pairs;                                     // of each step
};

/// Rows that continue fewer states: row r continues state `state[r]`.
struct Continued {
  const Index* state = nullptr;  // null: each its own
  std::size_t rows = 0;
};

/// Attention, embedding, stacked cells and the dense layer: their parameters and one step.
template <class C, class S>
class RecurrentDecoder {
 public:
  RecurrentDecoder(Scope root, std::size_t vocabulary, std::size_t key_width, const Config& config)
      : context_width_(key_width) {
    Scope scope = root.in("decoder.");
    attention_ = S::declare(scope.in("attention."), {config.hidden, key_width, config.hidden});
    embedding_ = scope.add("embedding.weight", {vocabulary, config.embed}, Initializer::standard_normal());
    for (std::size_t l = 0; l < config.layers; ++l) {
      const std::size_t inputs = l == 0 ? key_width + config.embed : config.hidden;
      layers_.push_back(C::declare(scope.in("rnn.", "_l" + text(l)), inputs, config.hidden));
    }
    dense_ = {scope.matrix("dense.weight", vocabulary, config.hidden),
              scope.bias("dense.bias", vocabulary, config.hidden)};
  }

  /// Keys and values of attention from the encoder's outputs [keys, width]; what depends on keys alone is
  /// computed here.
  template <Backend B>
  Memory<B> remember(const Variable<B>& outputs) const {
    return {S::prepare(attention_, outputs), outputs};
  }

  /// The part of the first layer's input product that the tokens contribute, for any number of rows at once:
  /// ids [count] to [count, gates · hidden].
  template <Backend B>
  Variable<B> embed(Tape<B>& tape, const Index* ids, std::size_t count) const {
    const Variable<B> embedded = gather_rows(tape[embedding_], ids, count);  // [count, embed]
    return linear_columns(embedded, tape[layers_[0].weight_ih], tape[layers_[0].bias_ih], context_width_,
                          input_product<C>());
  }

  /// The same for tokens that are likely to come again, where the tape does not record; `ids` are the tokens
  /// on the tape.
  template <Backend B>
  Variable<B> embed_again(Tape<B>& tape, std::span<const Token> tokens, const Index* ids) const {
    if (PackedProducts<B>::packs()) {
      const Variable<B> x = tape[embedding_], w = tape[layers_[0].weight_ih], b = tape[layers_[0].bias_ih];
      const WeightMatrix<B> matrix{w.value + context_width_, x.cols(), w.rows(), w.cols(), Transpose::yes};
      if (const auto* table = tape.weights().row_products(
              {x.value, x.rows(), b.value, matrix.data, matrix.k, matrix.n}, matrix, tokens)) {
        Variable<B> y = gather_rows(tape.borrow(table, {x.rows(), matrix.n}), ids, tokens.size());
        y.given = input_product<C>() == Result::given;
        return y;
      }
    }
    return embed(tape, ids, tokens.size());
  }

  /// One step for the queries of `spans`. `embedded` comes from `embed` and is used up; `states` (one a
  /// layer) moves on. Returns the attention weights [pairs] before dropout. Where several rows continue one
  /// state, `states` and queries are those before the step, and what depends on them alone is computed once.
  template <Backend B>
  Variable<B> step(const Memory<B>& memory, const SpanView<B>& spans, const Variable<B>& embedded,
                   std::vector<CellState<C, B>>& states, const DropoutPlan& plan = {},
                   const Index* names = nullptr, const Continued& continued = {}) const {
    Tape<B>& tape = *embedded.tape;
    // query = the top layer's previous hidden state; c = Σ α_t v_t
    Attended<B> attended = attend<S>(attention_, hidden(states.back()), memory, spans, plan, names);
    if (continued.state != nullptr) {
      attended.context = share_rows(attended.context, continued.state, continued.rows);
      for (CellState<C, B>& state : states)
        for (Variable<B>& part : state) part = share_rows(part, continued.state, continued.rows);
    }
    // input = [context ; embedding]: the embedding's product is there already
    add_linear(embedded, attended.context, tape[layers_[0].weight_ih]);
    states[0] = C::step(layers_[0], embedded, states[0]);
    for (std::size_t l = 1; l < layers_.size(); ++l) {
      const Variable<B> below = dropout(hidden(states[l - 1]), plan.decoder(l), names);
      const Variable<B> projected =
          linear(below, tape[layers_[l].weight_ih], tape[layers_[l].bias_ih], input_product<C>());
      states[l] = C::step(layers_[l], projected, states[l]);
    }
    return attended.weights;
  }

  /// logits = dense(output): [rows, hidden] to [rows, vocabulary].
  template <Backend B>
  Variable<B> logits(const Variable<B>& outputs) const {
    Tape<B>& tape = *outputs.tape;
    return linear(outputs, tape[dense_.weight], tape[dense_.bias]);
  }
  /// The `count` best tokens to follow each row, best first, and ln p of each: [rows, count] on the device.
  template <Backend B>
  void best(const Variable<B>& outputs, std::size_t count, typename B::Scalar* log_probs, Index* ids) const {
    Tape<B>& tape = *outputs.tape;
    best_of_products(outputs, tape[dense_.weight], tape[dense_.bias], count, log_probs, ids);
  }
  /// Its parameters, for training, which computes the loss together with it.
  const Dense& dense() const { return dense_; }

  /// Whether a decoder's input row is the target itself, or the target moved right behind `<bos>`.
  enum class Inputs : bool { as_given, shifted };

  /// Runs over whole target sentences, each for as many steps as it has valid tokens.
  template <Backend B>
  void run(Tape<B>& tape, const DecoderSource<C, B>& source, const SequenceRows& target, Inputs inputs,
           const DropoutPlan& plan, DecoderPass<C, B>& pass) const {
    pass.packing.assign({target.lengths, target.count});
    const Packing& packing = pass.packing;
    pass.ids.resize(packing.tokens());
    pass.names.resize(packing.tokens());
    packing.for_tokens([&](std::size_t row, std::size_t sentence, std::size_t t) {
      pass.ids[row] = inputs == Inputs::as_given ? target.at(sentence, t)
                      : t == 0                   ? reserved::bos
                                                 : target.at(sentence, t - 1);
      pass.names[row] = static_cast<Index>((target.first + sentence) * target.stride + t);
    });
    const Index* names = plan.active() ? tape.stage(pass.names) : nullptr;
    const Index* ids = tape.stage(pass.ids);
    const PackingLists lists = PackingLists::stage(tape, packing, pass.packing_lists);
    start(tape, source, pass);
    const Variable<B> embedded = embed(tape, ids, packing.tokens());
    pass.weights.clear();
    pass.pairs.clear();
    for (const std::size_t running : packing.counts()) pass.pairs.push_back(pass.spans.prefix(running).pairs);
    Loop<B> loop(tape, packing.counts(), pass.pairs, lists.state_rows);
    for (CellState<C, B>& state : pass.states)
      for (Variable<B>& part : state) part = loop.carry(part);
    for (std::size_t t = 0; t < packing.steps(); ++t) {
      const std::size_t running = packing.count(t), first = packing.start(t);
      loop.step();
      for (CellState<C, B>& state : pass.states)
        for (Variable<B>& part : state) part = part.row_range(0, running);
      pass.weights.push_back(step(source.memory, pass.spans.prefix(running),
                                  embedded.row_range(first, running), pass.states, plan,
                                  names ? names + first : nullptr));
      for (std::size_t l = 0; l < pass.states.size(); ++l)
        for (std::size_t p = 0; p < C::parts; ++p)
          pass.states[l][p] = loop.carry_on(l * C::parts + p, pass.states[l][p]);
    }
    pass.outputs = loop.all((layers_.size() - 1) * C::parts);
    if (tape.recording()) return;
    pass.ended.resize(pass.states.size());
    for (std::size_t l = 0; l < pass.states.size(); ++l)
      for (std::size_t p = 0; p < C::parts; ++p)
        pass.ended[l][p] = last_of(loop.all(l * C::parts + p), packing, lists);
  }

 private:
  /// Brings spans and first states into the order of the rows: longest target first. Sends what was staged.
  template <Backend B>
  void start(Tape<B>& tape, const DecoderSource<C, B>& source, DecoderPass<C, B>& pass) const {
    pass.begin.clear();
    pass.length.clear();
    pass.rows.clear();
    for (const Index sentence : pass.packing.order()) {
      const auto b = static_cast<std::size_t>(sentence);
      pass.begin.push_back(source.begin[b]);
      pass.length.push_back(source.length[b]);
      pass.rows.push_back(source.row_of_sentence[b]);
    }
    pass.spans.assign(tape, pass.begin, pass.length);
    const Index* rows = tape.stage(pass.rows);
    tape.send();
    pass.states.assign(source.first.begin(), source.first.end());
    for (CellState<C, B>& state : pass.states)
      for (Variable<B>& part : state) part = gather_rows(part, rows, pass.rows.size());
  }

  std::size_t context_width_;
  typename S::Weights attention_;
  Parameter embedding_;
  Dense dense_;
  std::vector<typename C::Weights> layers_;
};

}  // namespace bahdanau::detail
