// A model's decoder: attention, embedding, the decoder and readout policies, and the output layer. It runs
// over whole target sentences, or step by step.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <bahdanau/autograd/loop.hpp>
#include <bahdanau/autograd/ops/best.hpp>
#include <bahdanau/cell/recurrent_layer.hpp>
#include <bahdanau/core/refuse_array.hpp>
#include <bahdanau/core/token.hpp>
#include <bahdanau/model/decoder.hpp>
#include <bahdanau/model/decoder_checks.hpp>
#include <bahdanau/model/decoder_pass.hpp>
#include <bahdanau/model/readout.hpp>
#include <bahdanau/model/running_state.hpp>
#include <bahdanau/nn/weights.hpp>

namespace bahdanau::detail {

/// Attention, embedding, decoder, readout and output layer: their parameters, and what they do together.
template <class C, class S, class D, class R>
class DecoderNetwork {
 public:
  using Cell = C;
  using Network = typename D::template Network<C>;
  template <Backend B>
  using State = RunningState<typename Network::template State<B>, S, B>;
  static constexpr bool attends = attending<S>;
  /// Whether the readout reads a context.
  static constexpr bool reads_context = R::reads.context && gives_context<D, C>();
  /// Whether the decoder runs all steps at once.
  template <Backend B>
  static constexpr bool runs_at_once =
      !attends && requires(const Network& network, const PackedSteps<B>& steps, const Variable<B>& known,
                           typename Network::template State<B>& state) {
    network.run(steps, known, state);
  };

  DecoderNetwork(Scope root, std::size_t vocabulary, std::size_t key_width, std::size_t value_width,
                 const Config& config)
      : DecoderNetwork(root.in("decoder."), vocabulary,
                       ScoreWidths{config.hidden, key_width, config.hidden, value_width}, config) {}

  /// Keys and values as the score wants them; none where nobody attends.
  template <Backend B>
  Memory<B> remember([[maybe_unused]] const Variable<B>& keys,
                     [[maybe_unused]] const Variable<B>& values) const {
    if constexpr (attends)
      return detail::remember<S, B>(attention_, keys, values);
    else
      return {};
  }

  /// What goes into the first step, for the queries of `spans`.
  template <Backend B>
  void start(Tape<B>& tape, std::span<const CellState<C, B>> first, const SpanView<B>& spans,
             State<B>& state) const {
    network_.start(tape, first, state.decoder);
    if constexpr (StatefulScore<S, B>) state.score = S::start(attention_, tape, spans);
    require_first_state<D, S, B>(spans, hidden(first[0]).rows(), state);
  }

  /// One step, and what the output layer reads after it: [rows, width].
  template <Backend B>
  struct Stepped {
    Variable<B> features, attention;  // attention [pairs] of the queries; not set where nobody attends
    Variable<B> heads;                // of each head, of scores with several; see Attended
  };
  template <Backend B>
  Stepped<B> step(const Memory<B>& memory, const SpanView<B>& spans, const TokenInput<B>& tokens,
                  State<B>& state, const typename DecoderStep<S, B>::Continued& continued = {},
                  const DropoutPlan& plan = {}, const DropoutNames& names = {}) const {
    DecoderStep<S, B> step(attention_, context_, memory, spans, state.decoder, state.score, plan, names,
                           continued);
    const StepOutput<B> out = network_.step(step, network_.known(tokens), state.decoder);
    require_rows(out, step.attention(), state, tokens.rows());
    Features<B> features{out.output, out.before, out.context, {}};
    if constexpr (R::reads.token) features.token = tokens.embedding();
    return {R::features(readout_, features), step.attention(), step.heads()};
  }

  /// The previous tokens; see TokenInput.
  template <Backend B>
  TokenInput<B> tokens(Tape<B>& tape, const Index* ids, std::size_t count,
                       std::span<const Token> again = {}) const {
    return {tape, embedding_, ids, count, again};
  }
  /// The same with dropout.
  template <Backend B>
  TokenInput<B> tokens(Tape<B>& tape, const Index* ids, std::size_t count, const DropoutPlan& plan,
                       const DropoutNames& names) const {
    return {tape, embedding_, ids, count, {}, plan.target_embedding(), names.units};
  }

  /// logits = dense(features): [rows, width] to [rows, vocabulary].
  template <Backend B>
  Variable<B> logits(const Variable<B>& features) const {
    return linear(features, dense_.weight, dense_.bias);
  }
  /// The `count` best tokens to follow each row, best first, and ln p of each: [rows, count] on the device.
  template <Backend B>
  void best(const Variable<B>& features, std::size_t count, typename B::Scalar* log_probs, Index* ids) const {
    Tape<B>& tape = *features.tape;
    best_of_products(features, tape.weight(dense_.weight), tape[dense_.bias], count, log_probs, ids);
  }
  /// Its parameters, for training, which computes the loss together with it.
  const Dense& dense() const { return dense_; }

  /// Whether a decoder's input row is the target itself, or the target moved right behind `<bos>`.
  enum class Inputs : bool { as_given, shifted };

  /// Lays out a pass over whole target sentences, each for as many steps as it has valid tokens, and starts
  /// from the encoder's last states: `pass.state`, which may be replaced, with rows longest target first.
  template <Backend B>
  void begin(Tape<B>& tape, const DecoderSource<C, B>& source, const SequenceRows& target, Inputs inputs,
             const DropoutPlan& plan, DecoderPass<DecoderNetwork, B>& pass) const {
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
    pass.token_names = {};
    if (plan.active()) {
      const Index* positions = tape.stage(pass.names);
      pass.token_names = {positions, plan.per_sequence() ? stage_sequences(tape, target, pass) : positions};
    }
    pass.read = tokens(tape, tape.stage(pass.ids), packing.tokens(), plan, pass.token_names);
    pass.lists = PackingLists::stage(tape, packing, pass.packing_lists);
    if constexpr (runs_at_once<B>) {
      pass.sentences.clear();
      for (const std::size_t running : packing.counts())
        for (std::size_t r = 0; r < running; ++r) pass.sentences.push_back(static_cast<Index>(r));
      pass.sentence = tape.stage(pass.sentences);
    }
    start_packed(tape, source, pass);
  }

  /// Runs it: all steps at once where the decoder can, else one by one.
  template <Backend B>
  void run(Tape<B>& tape, const Memory<B>& memory, const DropoutPlan& plan,
           DecoderPass<DecoderNetwork, B>& pass) const {
    if constexpr (runs_at_once<B>)
      run_at_once(tape, plan, pass);
    else
      run_steps(tape, memory, plan, pass);
  }

 private:
  template <Backend B>
  void run_at_once(Tape<B>& tape, const DropoutPlan& plan, DecoderPass<DecoderNetwork, B>& pass) const {
    const PackedSteps<B> steps(pass.packing, pass.lists, pass.sentence, plan, pass.token_names);
    pass.weights.clear();
    const StepOutput<B> out = network_.run(steps, network_.known(pass.read), pass.state.decoder);
    require_output<D>(out.output, pass.packing.tokens());
    Features<B> features{out.output, {}, {}, {}};
    if constexpr (reads_context) {
      require_output<D>(out.context, pass.packing.rows(), "a context");
      features.context = steps.repeat(out.context);
    }
    if constexpr (R::reads.token) features.token = pass.read.embedding();
    pass.features = R::features(readout_, features);
    if (tape.recording()) return;
    pass.ended_rows.clear();
    pass.ended_pairs.clear();
    pass.state.each_row([&](Variable<B>& v) { pass.ended_rows.push_back(v); });
  }

  template <Backend B>
  void run_steps(Tape<B>& tape, const Memory<B>& memory, const DropoutPlan& plan,
                 DecoderPass<DecoderNetwork, B>& pass) const {
    const Packing& packing = pass.packing;
    State<B>& state = pass.state;
    const Variable<B> known = network_.known(pass.read);
    for (auto* list : {&pass.weights, &pass.heads, &pass.outputs, &pass.contexts, &pass.before})
      list->clear();
    pass.pairs.clear();
    pass.pair_states.clear();
    if constexpr (attends)
      for (const std::size_t running : packing.counts())
        pass.pairs.push_back(pass.spans.prefix(running).pairs);
    Loop<B> loop(tape, packing.counts(), pass.pairs, pass.lists.state_rows);
    state.each_row([&](Variable<B>& v) { v = loop.carry(v); });
    for (std::size_t t = 0; t < packing.steps(); ++t) {
      const std::size_t running = packing.count(t), first = packing.start(t);
      loop.step();
      state.each_row([&](Variable<B>& v) { v = v.row_range(0, running); });
      state.each_pair([&](Variable<B>& v) { v = first_pairs(v, pass.pairs[t]); });
      const SpanView<B> spans = attends ? pass.spans.prefix(running) : SpanView<B>{};
      DecoderStep<S, B> step(attention_, context_, memory, spans, state.decoder, state.score, plan,
                             pass.token_names.from(first));
      StepOutput<B> out = network_.step(step, known.row_range(first, running), state.decoder);
      require_rows(out, step.attention(), state, running);
      std::size_t k = 0;
      state.each_row([&](Variable<B>& v) {
        const Variable<B> after = loop.carry_on(k++, v);
        if (out.output.value == v.value) out.output = after;
        v = after;
      });
      if constexpr (attends) pass.weights.push_back(step.attention());
      if constexpr (heads_of<S>() > 1) pass.heads.push_back(step.heads());
      pass.outputs.push_back(out.output);
      if constexpr (reads_context) pass.contexts.push_back(out.context);
      if constexpr (R::reads.before) pass.before.push_back(out.before);
      if (State<B>::has_pairs && !tape.recording()) {
        auto& pairs = pass.pair_states.emplace_back();
        state.each_pair([&](Variable<B>& v) { pairs.push_back(v); });
      }
    }
    const auto all = [&](const std::vector<Variable<B>>& parts) {
      return loop.all(std::span<const Variable<B>>(parts));
    };
    Features<B> features{all(pass.outputs), {}, {}, {}};
    if constexpr (R::reads.before) features.before = all(pass.before);
    if constexpr (reads_context) features.context = all(pass.contexts);
    if constexpr (R::reads.token) features.token = pass.read.embedding();
    pass.features = R::features(readout_, features);
    if (!tape.recording()) end(tape, loop, pass);
  }

  /// How wide the contexts are that attention gives.
  static std::size_t attended_width([[maybe_unused]] const ScoreWidths& widths) {
    if constexpr (attends)
      return context_width<S>(widths);
    else
      return 0;
  }
  /// How wide those are that the readout is given.
  std::size_t given_width() const {
    if constexpr (!attends && gives_context<D, C>())
      return network_.context_width();
    else
      return context_;
  }

  DecoderNetwork(Scope scope, std::size_t vocabulary, const ScoreWidths& widths, const Config& config)
      : context_(attended_width(widths)),
        attention_(S::declare(scope.in("attention."), widths)),
        embedding_(scope.add("embedding.weight", {vocabulary, config.embed}, Initializer::standard_normal())),
        network_(scope, DecoderSizes{config.embed, config.hidden, config.layers, context_, config.residual}) {
    const ReadoutSizes sizes{network_.output_width(), given_width(), config.embed, config.hidden};
    const std::size_t width = R::width(sizes);
    readout_ = R::declare(scope, sizes);
    if (config.tied && width != config.embed)
      fail("Config.tied", "a readout as wide as the embedding, " + text(config.embed), text(width),
           "choose TanhReadout, or embed = " + text(width));
    dense_.weight = config.tied ? embedding_ : scope.matrix("dense.weight", vocabulary, width);
    dense_.bias = scope.bias("dense.bias", vocabulary, width);
  }

  /// Throws unless what a step has made has so many rows: a decoder may have forgotten an array.
  template <Backend B>
  static void require_rows(const StepOutput<B>& out, const Variable<B>& attention, State<B>& state,
                           std::size_t rows) {
    if (attends && attention.tape == nullptr)
      refuse_array("decoder", D::name, "a step that calls attend", nullptr, "it has no context otherwise");
    require_output<D>(out.output, rows);
    if constexpr (reads_context) require_output<D>(out.context, rows, "a context");
    if constexpr (R::reads.before) require_output<D>(out.before, rows, "a state before the step");
    state.decoder.each([&](Variable<B>& v) {
      require_output<D>(v, rows, "arrays of its state", "State::each calls f for each of them");
    });
  }

  /// The sentence of each row, for masks that all of its rows have.
  template <Backend B>
  static const Index* stage_sequences(Tape<B>& tape, const SequenceRows& target,
                                      DecoderPass<DecoderNetwork, B>& pass) {
    pass.sequences.resize(pass.packing.tokens());
    pass.packing.for_tokens([&](std::size_t row, std::size_t sentence, std::size_t) {
      pass.sequences[row] = static_cast<Index>(target.first + sentence);
    });
    return tape.stage(pass.sequences);
  }

  /// Brings spans and first states into the order of the rows: longest target first. Sends what was staged.
  template <Backend B>
  void start_packed(Tape<B>& tape, const DecoderSource<C, B>& source,
                    DecoderPass<DecoderNetwork, B>& pass) const {
    pass.begin.clear();
    pass.length.clear();
    pass.rows.clear();
    for (const Index sentence : pass.packing.order()) {
      const auto b = static_cast<std::size_t>(sentence);
      if constexpr (attends) {
        pass.begin.push_back(source.begin[b]);
        pass.length.push_back(source.length[b]);
      }
      pass.rows.push_back(source.row_of_sentence[b]);
    }
    if constexpr (attends) pass.spans.assign(tape, pass.begin, pass.length);
    const Index* rows = tape.stage(pass.rows);
    tape.send();
    pass.first.assign(source.first.begin(), source.first.end());
    for (CellState<C, B>& state : pass.first)
      for (Variable<B>& part : state) part = gather_rows(part, rows, pass.rows.size());
    start<B>(tape, pass.first, pass.spans.view(), pass.state);
  }

  /// What each row has ended with.
  template <Backend B>
  static void end(Tape<B>& tape, Loop<B>& loop, DecoderPass<DecoderNetwork, B>& pass) {
    pass.ended_rows.clear();
    pass.ended_pairs.clear();
    std::size_t k = 0;
    pass.state.each_row(
        [&](Variable<B>&) { pass.ended_rows.push_back(last_of(loop.all(k++), pass.packing, pass.lists)); });
    if constexpr (State<B>::has_pairs) {
      // row r ends with pairs offset[r], ... of its last step
      std::vector<Index> from;
      std::vector<std::size_t> offset{0}, start{0};
      for (const Index n : pass.length) offset.push_back(offset.back() + static_cast<std::size_t>(n));
      for (const std::size_t n : pass.pairs) start.push_back(start.back() + n);
      for (std::size_t r = 0; r < pass.length.size(); ++r) {
        std::size_t last = 0;
        while (last + 1 < pass.packing.steps() && pass.packing.count(last + 1) > r) ++last;
        for (std::size_t i = offset[r]; i < offset[r + 1]; ++i)
          from.push_back(static_cast<Index>(start[last] + i));
      }
      const Index* list = tape.keep(from);
      for (std::size_t i = 0; i < pass.pair_states[0].size(); ++i) {
        std::vector<Variable<B>> steps;
        for (const auto& pairs : pass.pair_states) steps.push_back(pairs[i].reshape({pairs[i].size(), 1}));
        pass.ended_pairs.push_back(gather_pairs(concat_rows<B>(steps), list, from.size()));
      }
    }
  }

  std::size_t context_;  // how wide the contexts of attention are
  typename S::Weights attention_;
  Parameter embedding_;
  Network network_;
  typename R::Weights readout_;
  Dense dense_;
};

}  // namespace bahdanau::detail
