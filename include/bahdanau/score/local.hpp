// Luong's local attention: a window around a predicted position, and a Gaussian over it.
// `Local<General, 10>` changes how the scores of any score become α; the scores are as they were.
#pragma once

#include <cmath>
#include <cstddef>
#include <string_view>

#include <bahdanau/nn/fixed_name.hpp>
#include <bahdanau/score/additive.hpp>
#include <bahdanau/score/dot.hpp>
#include <bahdanau/score/scaled_dot.hpp>
#include <bahdanau/score/score.hpp>

namespace bahdanau {

namespace pointwise {

/// e^(s - m + g d²) / total: what a score s at a distance d from the window's centre becomes.
struct LocalWeight {
  template <class V>
  BAHDANAU_HOST_DEVICE V operator()(V s, V d, V m, V g, V total) const {
    return pointwise::exp(pointwise::multiply_add(g * d, d, s - m)) / total;
  }
};
/// α (dα - e^(-g d²) w), w = Σ α dα: the softmax without the Gaussian is α e^(-g d²).
struct LocalDerivative {
  template <class V>
  BAHDANAU_HOST_DEVICE V operator()(V alpha, V d_alpha, V d, V g, V w) const {
    return alpha * pointwise::multiply_add(-w, pointwise::exp(-g * d * d), d_alpha);
  }
};

}  // namespace pointwise

namespace detail {

/// The keys of a window, and where its centre is.
template <class T>
struct LocalWindow {
  T centre;  // p = n σ(z)
  std::size_t first, count;

  /// Keys i with |i - p| ≤ reach, of n. As p is from 0 to n and the reach at least 1, there is one at least.
  BAHDANAU_HOST_DEVICE static LocalWindow around(T z, std::size_t n, T reach) {
    const T last = static_cast<T>(n - 1), p = static_cast<T>(n) * pointwise::sigmoid(z);
    // A p that is no number gives all keys, and weights that are none.
    const std::size_t begin = p - reach > T(0) ? static_cast<std::size_t>(std::ceil(p - reach)) : 0;
    const std::size_t end = p + reach < last ? static_cast<std::size_t>(std::floor(p + reach)) : n - 1;
    return {p, begin, end - begin + 1};
  }
  /// i - p for the keys of the window.
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void distances(Lanes lanes, T* out) const {
    const T from = static_cast<T>(first), p = centre;
    lanes.for_columns(count, [=](std::size_t c) { out[c] = from + static_cast<T>(c) - p; });
  }
};

template <class T, class View>
struct LocalSoftmaxRow {
  View spans;
  T reach, factor;
  T* alpha;
  const T *scores, *z;
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t r) const {
    const auto [key, pair, n] = spans.span(r);
    const auto window = LocalWindow<T>::around(z[r], n, reach);
    const T* s = scores + pair + window.first;
    T* a = alpha + pair + window.first;
    window.distances(lanes, a);
    const T largest = lanes.max(window.count, pointwise::Identity{}, s);
    const T total = lanes.sum(window.count, pointwise::ExpMinus{}, s, largest);
    lanes.map(window.count, pointwise::LocalWeight{}, Store<T>{a}, s, static_cast<const T*>(a), largest,
              factor, total);
    lanes.map(window.first, pointwise::Identity{}, Store<T>{alpha + pair}, T(0));
    lanes.map(n - window.first - window.count, pointwise::Identity{}, Store<T>{a + window.count}, T(0));
  }
};

template <class T, class View>
struct LocalSoftmaxAdjointRow {
  View spans;
  T reach, factor;
  const T *alpha, *z, *d_alpha;
  T *d_scores, *d_z;
  T* distance;  // [pairs], to write to
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t r) const {
    const auto [key, pair, n] = spans.span(r);
    const auto window = LocalWindow<T>::around(z[r], n, reach);
    const std::size_t at = pair + window.first, count = window.count;
    const T *a = alpha + at, *da = d_alpha + at, *d = distance + at;
    window.distances(lanes, distance + at);
    // α = y e^(g d²), y = softmax s  =>  ds += y (e^(g d²) dα - Σ α dα)
    const T weighted = lanes.sum(count, pointwise::Times{}, a, da);
    lanes.map(count, pointwise::LocalDerivative{}, Add<T>{d_scores + at}, a, da, d, factor, weighted);
    // d = i - p  =>  dp = -2 g Σ α dα d;   p = n σ(z)  =>  dz += dp p (1 - p / n)
    const T pull = lanes.sum(count, pointwise::Times3{}, a, da, d), p = window.centre;
    if (lanes.owns(0)) d_z[r] = std::fma(T(-2) * factor * pull, p * (T(1) - p / static_cast<T>(n)), d_z[r]);
  }
};

}  // namespace detail

/// α_i = softmax over the keys with |i - p| ≤ reach, times e^(-(i - p)² / 2σ²), σ = reach / 2, where p = n
/// σ(z) for n keys i = 0, 1, …; 0 elsewhere. Scores [pairs], z [queries, 1], α [pairs], whose rows need not
/// sum to 1. No gradient flows through the choice of the window. Throws for a reach below 1.
template <Backend B>
Variable<B> local_softmax(const Variable<B>& scores, const Variable<B>& z, const SpanView<B>& spans,
                          typename B::Scalar reach) {
  using T = typename B::Scalar;
  using View = SpanView<B>;
  detail::require_same_tape("local_softmax", scores, z);
  detail::require_equal("local_softmax", "scores, one per pair:", spans.pairs, scores.size());
  detail::require_equal("local_softmax", "positions, one per query:", spans.queries, z.size());
  if (!(reach >= T(1))) fail("local_softmax", "a reach of at least 1", detail::number_text(reach));
  const T factor = T(-2) / (reach * reach);  // -1 / 2σ²
  Tape<B>& tape = *scores.tape;
  const Variable<B> alpha = tape.variable({spans.pairs});
  B::for_rows(spans.queries,
              detail::LocalSoftmaxRow<T, View>{spans, reach, factor, alpha.value, scores.value, z.value});
  tape.record({"local_softmax", {scores, z}, {alpha}, {z, alpha}}, [=, &tape](Gradients<B>& d) {
    B::for_rows(spans.queries, detail::LocalSoftmaxAdjointRow<T, View>{spans, reach, factor, alpha.value,
                                                                       z.value, d.of(alpha), d.to(scores),
                                                                       d.to(z), tape.scratch(spans.pairs)});
  });
  return alpha;
}

/// What the compiler says of others.
template <class S, std::size_t D>
struct Local : S {
  static_assert(
      D >= 1, "bahdanau: a Local score reaches at least one key to each side; use Local<General, 1> or more");
  static_assert(
      D < 1 || detail::ComparesPairs<S, AnyBackend>,
      "bahdanau: Local needs a score that compares single pairs; use it with General, Dot, ScaledDot "
      "or Additive");
};

/// α = softmax of another score over the keys with |i - p| ≤ D, times e^(-(i - p)² / 2σ²), σ = D / 2;
/// p = n σ(v_pᵀ tanh(W_p q)) for n keys (Luong et al. 2015, local-p).
template <class S, std::size_t D>
requires(D >= 1 && detail::ComparesPairs<S, AnyBackend>) struct Local<S, D> {
  static constexpr auto spelled = fixed_name("local(", std::string_view(S::name), ",", D, ")");
  static constexpr std::string_view name = spelled;
  static constexpr bool needs_equal_widths = S::needs_equal_widths;
  struct Weights {
    typename S::Weights score;
    Parameter W_p;  // [hidden, query]
    Parameter v_p;  // [1, hidden]
  };

  /// Throws where there is no hidden width, and what the other score throws.
  static Weights declare(Scope scope, ScoreWidths widths) {
    if (widths.hidden == 0) fail("Local", "a hidden width of at least 1", "0", "W_p is [hidden, query]");
    return {S::declare(scope, widths), scope.matrix("W_p.weight", widths.hidden, widths.query),
            scope.matrix("v_p.weight", 1, widths.hidden)};
  }

  template <Backend B>
  static Variable<B> prepare(const Weights& w, const Variable<B>& keys) {
    return S::prepare(w.score, keys);
  }

  template <Backend B>
  static Attended<B> attend(const Weights& w, const AttentionStep<B>& step) {
    const Variable<B> z = linear(tanh(linear(step.query, w.W_p)), w.v_p);  // [queries, 1]
    const Variable<B> scores = S::scores(w.score, step.query, step.memory.keys, step.spans);
    const Variable<B> alpha = local_softmax(scores, z, step.spans, static_cast<typename B::Scalar>(D));
    return {span_sum(step.drop(alpha), step.memory.values, step.spans), alpha};
  }
};

static_assert(Score<Local<General, 10>> && Score<Local<Dot, 10>> && Score<Local<ScaledDot, 10>> &&
              Score<Local<Additive, 10>>);

}  // namespace bahdanau
