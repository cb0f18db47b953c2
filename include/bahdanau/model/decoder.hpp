// The Decoder concept: what happens in one step, and what goes from one step to the next.
// To add a decoder, write one struct as model/attend_then_step.hpp does.
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <bahdanau/backend/any_backend.hpp>
#include <bahdanau/backend/packed_products.hpp>
#include <bahdanau/cell/cell.hpp>
#include <bahdanau/cell/recurrent_layer.hpp>
#include <bahdanau/core/refuse_array.hpp>
#include <bahdanau/model/attend.hpp>
#include <bahdanau/model/dropout_plan.hpp>
#include <bahdanau/model/encoder.hpp>
#include <bahdanau/score/no_score.hpp>

namespace bahdanau {

/// How wide the things are that a decoder works with.
struct DecoderSizes {
  std::size_t embed, hidden, layers;
  std::size_t context;    // of attention; 0 where there is none
  bool residual = false;  // see Config
};

/// Which rows are which, for dropout (on the tape; null: there is none): their positions, which name the
/// masks of attention weights, and what names all others, the same or the sentences alone.
struct DropoutNames {
  const Index *positions = nullptr, *units = nullptr;

  /// Those of the rows from `first` on.
  DropoutNames from(std::size_t first) const {
    return {positions ? positions + first : nullptr, units ? units + first : nullptr};
  }
};

/// The previous tokens of some rows, as a decoder reads them.
template <Backend B>
class TokenInput {
 public:
  TokenInput() = default;
  /// `ids` are on the tape. `again` are the same tokens where they are likely to come again, as in a search;
  /// dropout and `names`, of the rows, are for training.
  TokenInput(Tape<B>& tape, const Parameter& embedding, const Index* ids, std::size_t count,
             std::span<const Token> again = {}, const DropoutMask& mask = {}, const Index* names = nullptr)
      : tape_(&tape),
        embedding_(embedding),
        ids_(ids),
        count_(count),
        again_(again),
        mask_(mask),
        names_(names) {}

  Tape<B>& tape() const { return *tape_; }
  std::size_t rows() const { return count_; }

  /// y, their embeddings [rows, embed]; with dropout, while training.
  const Variable<B>& embedding() const {
    if (gathered_.tape == nullptr)
      gathered_ = dropout(gather_rows((*tape_)[embedding_], ids_, count_), mask_, names_);
    return gathered_;
  }

  /// y W'ᵀ + b, where W' is the block of W's columns that starts at `first`.
  Variable<B> product(const Parameter& weight, const Parameter& bias, std::size_t first,
                      Result result = Result::kept) const {
    const Variable<B> w = tape_->weight(weight), b = (*tape_)[bias];
    if (first > w.cols() || embedding_.shape.cols() > w.cols() - first)
      fail("TokenInput::product",
           "embeddings that fit columns " + detail::text(first) + " on of a weight " + w.shape.text(),
           embedding_.shape.text());
    if (!again_.empty() && detail::PackedProducts<B>::packs()) {
      const Variable<B> x = (*tape_)[embedding_];
      const WeightMatrix<B> matrix{w.value + first, x.cols(), w.rows(), w.cols(), Transpose::yes};
      if (const auto* table = tape_->weights().row_products(
              {x.value, x.rows(), b.value, matrix.data, matrix.k, matrix.n}, matrix, again_)) {
        Variable<B> y = gather_rows(tape_->borrow(table, {x.rows(), matrix.n}), ids_, count_);
        y.given = result == Result::given;
        return y;
      }
    }
    return linear_columns(embedding(), w, b, first, result);
  }

 private:
  Tape<B>* tape_ = nullptr;
  Parameter embedding_;
  const Index* ids_ = nullptr;
  std::size_t count_ = 0;
  std::span<const Token> again_;
  DropoutMask mask_;
  const Index* names_ = nullptr;
  mutable Variable<B> gathered_;
};

/// What a decoder can do in a step besides its own sums.
template <class S, Backend B>
class DecoderStep {
 public:
  /// Rows that continue fewer states: row r continues state `state[r]`; null: each its own.
  struct Continued {
    const Index* state = nullptr;
    std::size_t rows = 0;
  };

  /// For models: `state` is the decoder's own, and contexts are `context` wide.
  template <class State>
  DecoderStep(const typename S::Weights& weights, std::size_t context, const Memory<B>& memory,
              const SpanView<B>& spans, State& state, detail::ScoreState<S, B>& score,
              const DropoutPlan& plan = {}, const DropoutNames& names = {}, const Continued& continued = {})
      : weights_(&weights),
        context_(context),
        memory_(&memory),
        spans_(&spans),
        score_(&score),
        plan_(plan),
        names_(names),
        continued_(continued),
        state_(&state),
        share_state_([](void* shared, const Continued& rows) {
          static_cast<State*>(shared)->each(
              [&](Variable<B>& v) { v = share_rows(v, rows.state, rows.rows); });
        }) {}

  /// The context that a query [rows, hidden] finds among the keys of its row.
  ///
  /// In a search, several rows may continue one state. A decoder that attends before its step gets each state
  /// once, and attends once for all of them; afterwards its state, and the context, have those rows.
  Variable<B> attend(const Variable<B>& query) {
    static_assert(detail::attending<S>,
                  "bahdanau: this decoder says that it does not attend, and its step calls attend; leave "
                  "`attends` out, and name a score");
    if (attention_.tape != nullptr) fail("DecoderStep::attend", "one call per step", "another one");
    const Attended<B> attended = detail::attend<S, B>(
        *weights_,
        {query, *memory_, *spans_, plan_.active() ? plan_.attention() : DropoutMask{}, names_.positions},
        *score_);
    const auto require = [&](const char* what, const Variable<B>& v, const Shape& shape) {
      if (v.tape != nullptr && v.shape == shape) return;
      detail::refuse_array("score", S::name, std::string(what).append(shape.text()),
                           v.tape == nullptr ? nullptr : &v.shape);
    };
    require("contexts ", attended.context, {query.rows(), context_});
    require("weights ", attended.weights, {spans_->pairs});
    if constexpr (detail::heads_of<S>() > 1)
      require("weights of each head ", attended.heads, {spans_->pairs, detail::heads_of<S>()});
    attention_ = attended.weights;
    heads_ = attended.heads;
    if (continued_.state == nullptr) return attended.context;
    share_state_(state_, continued_);
    return share_rows(attended.context, continued_.state, continued_.rows);
  }

  /// x [rows, any], as it enters layer `layer` of a stack: with dropout, while training.
  Variable<B> dropout(const Variable<B>& x, std::size_t layer) const {
    return bahdanau::dropout(x, plan_.decoder(layer), names_.units);
  }

  /// The weights [pairs] of the last `attend`; its tape is null where there was none.
  const Variable<B>& attention() const { return attention_; }
  /// The same of each head [pairs, heads], of scores with several; see Attended.
  const Variable<B>& heads() const { return heads_; }

 private:
  const typename S::Weights* weights_;
  std::size_t context_;
  const Memory<B>* memory_;
  const SpanView<B>* spans_;
  detail::ScoreState<S, B>* score_;
  DropoutPlan plan_;
  DropoutNames names_;
  Continued continued_;
  void* state_;
  void (*share_state_)(void*, const Continued&);
  Variable<B> attention_, heads_;
};

/// The steps of whole target sentences, as a decoder runs them that does all at once. Arrays of all steps
/// have one row a token: step after step, the longest sentence first.
template <Backend B>
class PackedSteps {
 public:
  /// For models: `sentence` says for each row of all steps which row of the first step it goes on from.
  PackedSteps(const Packing& packing, const PackingLists& lists, const Index* sentence,
              const DropoutPlan& plan = {}, const DropoutNames& names = {})
      : packing_(&packing), lists_(lists), sentence_(sentence), plan_(plan), names_(names.units) {}

  const Packing& packing() const { return *packing_; }
  const PackingLists& lists() const { return lists_; }

  /// y [rows of all steps, any] += what is the same in all steps of a sentence, x [sentences, any], in place.
  void add(const Variable<B>& y, const Variable<B>& x) const { add_gathered_rows(y, x, sentence_); }
  /// x [sentences, any] for the rows of all steps. Products with it are computed once a sentence.
  Variable<B> repeat(const Variable<B>& x) const { return share_rows(x, sentence_, packing_->tokens()); }

  /// x [rows of all steps, any], as it enters layer `layer` of a stack: with dropout, while training.
  Variable<B> dropout(const Variable<B>& x, std::size_t layer) const {
    return bahdanau::dropout(x, plan_.decoder(layer), names_);
  }

 private:
  const Packing* packing_;
  PackingLists lists_;
  const Index* sentence_;
  DropoutPlan plan_;
  const Index* names_;
};

/// What a step gives to the readout, all [rows, any].
template <Backend B>
struct StepOutput {
  Variable<B> output;   // [rows, output_width]: the state, or what stands for it
  Variable<B> context;  // [rows, context]; not set where there is none
  Variable<B> before;   // [rows, hidden]: the top layer's before the step, of decoders that attend first
};

namespace detail {

/// Point 1 of the contract below.
template <class D>
concept DeclaresDecoder = requires {
  { D::name } -> std::convertible_to<std::string_view>;
  { D::attends_before_step } -> std::convertible_to<bool>;
};

/// Whether a decoder attends: unless it says that it does not.
template <class D>
consteval bool decoder_attends() {
  if constexpr (requires { D::attends; })
    return D::attends;
  else
    return true;
}

/// Whether its steps give a context: that of attention, or one of its own.
template <class D, class C>
consteval bool gives_context() {
  return decoder_attends<D>() || requires(const typename D::template Network<C>& network) {
    network.context_width();
  };
}

/// Points 2 to 5.
template <class D, class C, class S, class B>
concept DecodesWith = requires(const typename D::template Network<C>& network,
                               typename D::template Network<C>::template State<B>& state, Tape<B>& tape,
                               std::span<const CellState<C, B>> first, const TokenInput<B>& tokens,
                               DecoderStep<S, B>& step, const Variable<B>& known) {
  requires std::constructible_from<std::remove_cvref_t<decltype(network)>, Scope, DecoderSizes>;
  { network.output_width() } -> std::convertible_to<std::size_t>;
  network.start(tape, first, state);
  state.each(AnyVisitor{});
  { network.known(tokens) } -> std::same_as<Variable<B>>;
  { network.step(step, known, state) } -> std::same_as<StepOutput<B>>;
};

}  // namespace detail

/// What happens in one step, and what goes to the next one. Models: `AttendThenStep`, `StepThenAttend`,
/// `InputFeeding`, `Conditional`; `Plain` and `FixedContext`, which do not attend.
///
/// 1. `name` is what a model file calls it, sizes of its own included. `attends_before_step` says that its
///    query is known before the previous token is. `steps_twice`, where it is there and true, says that it
///    steps a cell twice per token, which not every cell can (`Cell`, point 6).
/// 2. `Network<Cell>` is constructed from (scope `decoder.`, sizes), where it declares its parameters;
///    `output_width()` is how wide what it gives to the readout is.
/// 3. `Network::State<Backend>` is all that goes from step to step, as arrays of earlier steps are gone in a
///    search: its `each(f)` calls f for each of its arrays [rows, any], always in the same order, those of
///    the cells first, which `DecoderState::hidden` shows. `start(tape, first, state)` fills one from the
///    encoder's last states; it may have been used before.
/// 4. `known(tokens)` is what of its input depends on the previous tokens alone [rows, any]: it is called
///    for all steps at once where it can be, before the first.
/// 5. `step(step, known, state)` moves the state on and gives a `StepOutput`; `step.attend(query)` is the
///    context, and comes once a step. It may be called with fewer rows than before: sentences that have ended
///    drop out. Where the decoder attends before its step, its state is to be read anew after `attend`.
/// 6. A decoder with `attends = false` never calls `attend`, and goes with `NoScore` alone. Where its steps
///    give a context all the same, its network says with `context_width()` how wide that is. As no step waits
///    for another part of the model, the network may `run(steps, known, state)` all of them at once, for
///    `PackedSteps`: from `known` of all rows to a `StepOutput` with the outputs of all rows, and with one
///    context for each sentence; where the tape does not record, the state then is what each row has ended
///    with.
template <class D>
concept Decoder =
    detail::DeclaresDecoder<D> && detail::DecodesWith<D, detail::AnyCell, detail::AnyScore, AnyBackend>;

/// The same with points 2 to 5 for one cell, one score and one backend.
template <class D, class C, class S, class B>
concept DecoderOn = detail::DeclaresDecoder<D> && Backend<B> && detail::DecodesWith<D, C, S, B>;

}  // namespace bahdanau
