// The Score concept: how a query meets the keys.
// To add a score, write one struct as score/scaled_dot.hpp does; keys come without padding, so no mask is
// needed.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include <bahdanau/autograd/ops.hpp>
#include <bahdanau/backend/any_backend.hpp>
#include <bahdanau/nn/parameter.hpp>

namespace bahdanau {

/// How wide the things are that a score compares.
struct ScoreWidths {
  std::size_t query = 0, key = 0;
  std::size_t hidden = 0;  // the width of the space in which they meet, where the score has one
  std::size_t value = 0;   // of what contexts are sums of
};

namespace detail {

/// For scores without parameters that compare numbers one by one. Throws where the widths differ.
inline void require_equal_widths(std::string_view score, const ScoreWidths& widths, std::string_view others) {
  if (widths.query == widths.key) return;
  fail(score, "keys of width " + text(widths.query), text(widths.key),
       "use " + std::string(others) + " for queries and keys of different widths");
}

}  // namespace detail

/// What can be attended to, row by row: keys and values as the score has prepared them.
template <Backend B>
struct Memory {
  Variable<B> keys;    // [keys, any]
  Variable<B> values;  // [keys, any]
};

/// One round of attention, as a score that does all of it sees it.
template <Backend B>
struct AttentionStep {
  Variable<B> query;  // [queries, query]
  Memory<B> memory;
  SpanView<B> spans;             // which queries meet which keys
  DropoutMask mask = {};         // of α
  const Index* names = nullptr;  // of the queries, for the mask

  /// α [pairs] after dropout, for the sum; what is reported is that before. A score with several α names each
  /// by a number, so that each has a mask of its own.
  Variable<B> drop(const Variable<B>& alpha, std::uint64_t number = 0) const {
    if (mask.rate == 0) return alpha;
    return dropout(alpha, spans, {mask.rate, number == 0 ? mask.key : mask.key.derive(number)}, names);
  }
};

/// What attention gives.
template <Backend B>
struct Attended {
  Variable<B> context;  // [queries, context]
  Variable<B> weights;  // [pairs], before dropout
  // Of a score with several heads, of which `weights` is the mean: each head's [pairs, heads], as `head_dot`
  // orders them.
  Variable<B> heads = {};
};

namespace detail {

/// Points 1 and 2 of the contract below.
template <class S>
concept DeclaresScore = requires(Scope scope, ScoreWidths widths) {
  { S::name } -> std::convertible_to<std::string_view>;
  { S::needs_equal_widths } -> std::convertible_to<bool>;
  { S::declare(scope, widths) } -> std::same_as<typename S::Weights>;
};

/// Point 4, in one of its forms.
template <class S, class B>
concept ComparesPairs = requires(const typename S::Weights& weights, const Variable<B>& query,
                                 const Variable<B>& keys, const SpanView<B>& spans) {
  { S::scores(weights, query, keys, spans) } -> std::same_as<Variable<B>>;
};
template <class S, class B>
concept AttendsItself = requires(const typename S::Weights& weights, const AttentionStep<B>& step) {
  { S::attend(weights, step) } -> std::same_as<Attended<B>>;
};
template <class S, class B>
concept StatefulScore = requires(const typename S::Weights& weights, const AttentionStep<B>& step,
                                 typename S::template State<B>& state, Tape<B>& tape,
                                 const SpanView<B>& spans) {
  { S::attend(weights, step, state) } -> std::same_as<Attended<B>>;
  { S::start(weights, tape, spans) } -> std::same_as<typename S::template State<B>>;
};

/// A score that is declared and nowhere defined: see AnyBackend.
struct AnyScore {
  static constexpr std::string_view name = "any";
  static constexpr bool needs_equal_widths = false;
  struct Weights {};
  static Weights declare(Scope scope, ScoreWidths widths);
  template <Backend B>
  static Variable<B> prepare(const Weights& weights, const Variable<B>& keys);
  template <Backend B>
  static Variable<B> scores(const Weights& weights, const Variable<B>& query, const Variable<B>& prepared,
                            const SpanView<B>& spans);
};

/// Points 3 and 4. Of a score that does not attend itself, `scores` is asked for, so that a compiler shows
/// what is missing and not three things of which one is.
template <class S, class B>
concept ComparesOn = requires(const typename S::Weights& weights, const Variable<B>& keys) {
  { S::prepare(weights, keys) } -> std::same_as<Variable<B>>;
}
&&ComparesPairs<std::conditional_t<AttendsItself<S, B> || StatefulScore<S, B>, AnyScore, S>, B>;

/// How many α a score has; 1, where it does not say.
template <class S>
constexpr std::size_t heads_of() {
  if constexpr (requires { S::heads; })
    return S::heads;
  else
    return 1;
}

/// A score without a state.
struct NoScoreState {};

/// What a state shows its arrays to, where only the types matter. No lambda: nvcc knows none in concepts.
struct AnyVisitor {
  template <class Array>
  void operator()(Array& array) const;
};
template <class S, class B>
struct ScoreStateOf {
  using type = NoScoreState;
};
template <class S, class B>
requires StatefulScore<S, B>
struct ScoreStateOf<S, B> {
  using type = typename S::template State<B>;
};
template <class S, class B>
using ScoreState = typename ScoreStateOf<S, B>::type;

}  // namespace detail

/// How a query meets the keys. Models: `Additive`, `ScaledDot`, `Dot`, `General`; and those that are made
/// from them: `Local<Score, D>`, `Coverage<Additive>`, `MultiHead<ScaledDot, heads>`.
///
/// 1. `name` is what a model file calls it, sizes of its own included; `needs_equal_widths` says that queries
///    and keys must be equally wide.
/// 2. `Weights` and `declare(scope, widths)` are its parameters.
/// 3. `prepare(weights, keys)` takes keys [keys, key] to whatever depends on them alone [keys, any]: it is
///    called once per source sentence, never once per step. `prepare_values(weights, values)` may do so too.
/// 4. `scores(weights, query, prepared, spans)` takes queries [queries, query] to one score per pair [pairs];
///    the rest, α = softmax of them and Σ α v, follows. Or `attend(weights, step)` does all of it, and gives
///    contexts of `context_width(widths)`, without which they are as wide as values.
/// 5. All that goes from step to step is a `State<Backend>`, as arrays of earlier steps are gone in a
///    search: its `each_pair(f)` calls f for each of its arrays [pairs] (the attention so far, say), its
///    `each_row(f)` for each [queries, any] (a position, say); one of them is enough.
///    `start(weights, tape, spans)` makes the first one, and `attend(weights, step, state)` moves it on. Each
///    hypothesis of a search has its own.
/// 6. A score with several α says how many in `heads`, and gives each in `Attended::heads`.
template <class S>
concept Score = detail::DeclaresScore<S> && detail::ComparesOn<S, AnyBackend>;

/// The same with points 3 to 5 on one backend, for a score that has them there alone.
template <class S, class B>
concept ScoreOn = detail::DeclaresScore<S> && Backend<B> && detail::ComparesOn<S, B>;

}  // namespace bahdanau
