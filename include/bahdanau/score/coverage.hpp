// Coverage: the additive score with a third term, the attention that a key has received so far.
// The sum of earlier α goes from step to step, and gradients flow through it; the score is one operation.
#pragma once

#include <concepts>
#include <cstddef>
#include <string_view>

#include <bahdanau/score/additive.hpp>

namespace bahdanau {

namespace pointwise {

/// w tanh(q + k + m w_m)
struct CoverageTerm {
  template <class V>
  BAHDANAU_HOST_DEVICE V operator()(V q, V k, V w, V w_m, V m) const {
    return w * pointwise::tanh(pointwise::multiply_add(m, w_m, q + k));
  }
};

/// From q, k, w, w_m, m and ds: the gradients of the sum under tanh, three times, of w, and of w_m.
struct CoverageTermAdjoint {
  template <class V>
  BAHDANAU_HOST_DEVICE Values<V, 5> operator()(V q, V k, V w, V w_m, V m, V ds) const {
    // s = w tanh(q + k + m w_m); the tanh is computed again: see AdditiveTermAdjoint
    const V t = pointwise::tanh(pointwise::multiply_add(m, w_m, q + k));
    const V d_sum = ds * w * pointwise::multiply_add(-t, t, V(1));
    return {{d_sum, d_sum, d_sum, ds * t, d_sum * m}};
  }
};

}  // namespace pointwise

namespace detail {

template <class T, class View>
struct CoverageRow {
  View spans;
  std::size_t width;
  T* score;
  const T *query, *keys, *w, *w_m, *covered;
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t r) const {
    const auto [begin, first, n] = spans.span(r);
    for (std::size_t i = 0; i < n; ++i) {
      const T s = lanes.sum(width, pointwise::CoverageTerm{}, query + r * width, keys + (begin + i) * width,
                            w, w_m, covered[first + i]);
      if (lanes.owns(0)) score[first + i] = s;
    }
  }
};

template <class T, class View>
struct CoverageAdjointRow {
  View spans;
  std::size_t width;
  const T *query, *keys, *w, *w_m, *covered, *d_score;
  T *d_query, *d_keys, *dw, *dw_m;
  T* d_covered;  // null: nobody wants it
  T* d_sum;      // [queries, width], to write to
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t r) const {
    const auto [begin, first, n] = spans.span(r);
    T* sum = d_sum + r * width;
    for (std::size_t i = 0; i < n; ++i) {
      lanes.map(width, pointwise::CoverageTermAdjoint{}, Store<T>{sum}, Add<T>{d_query + r * width},
                AddShared<T>{d_keys + (begin + i) * width}, AddShared<T>{dw}, AddShared<T>{dw_m},
                query + r * width, keys + (begin + i) * width, w, w_m, covered[first + i],
                d_score[first + i]);
      if (d_covered == nullptr) continue;
      // sum = q + k + m w_m  =>  dm += Σ_c dsum w_m
      const T dm = lanes.sum(width, pointwise::Times{}, static_cast<const T*>(sum), w_m);
      if (lanes.owns(0)) d_covered[first + i] += dm;
    }
  }
};

}  // namespace detail

/// score[pair] = Σ_c w[c] tanh(query[r, c] + key[k, c] + covered[pair] w_m[c]): query [queries, width], keys
/// [keys, width], covered [pairs], w and w_m of `width` elements.
template <Backend B>
Variable<B> coverage_scores(const Variable<B>& query, const Variable<B>& keys, const Variable<B>& covered,
                            const Variable<B>& w, const Variable<B>& w_m, const SpanView<B>& spans) {
  using T = typename B::Scalar;
  using View = SpanView<B>;
  for (const Variable<B>* other : {&keys, &covered, &w, &w_m})
    detail::require_same_tape("coverage_scores", query, *other);
  detail::require_equal("coverage_scores", "queries:", spans.queries, query.rows());
  detail::require_equal("coverage_scores", "keys of width", query.cols(), keys.cols());
  detail::require_keys<B>("coverage_scores", spans, keys);
  detail::require_equal("coverage_scores", "earlier weights, one per pair:", spans.pairs, covered.size());
  detail::require_equal("coverage_scores", "weights:", query.cols(), w.size());
  detail::require_equal("coverage_scores", "weights of coverage:", query.cols(), w_m.size());
  Tape<B>& tape = *query.tape;
  const std::size_t width = query.cols();
  const Variable<B> q = query.given ? tape.take(query) : query;
  const Variable<B> score = tape.variable({spans.pairs});
  B::for_rows(spans.queries, detail::CoverageRow<T, View>{spans, width, score.value, q.value, keys.value,
                                                          w.value, w_m.value, covered.value});
  // As in additive_scores: a gradient in the query's own place waits until the query was read for the last
  // time, and one kernel does not add to one place by two of its outputs.
  const bool apart = query.given || query.array == keys.array;
  const Variable<B> read = query.given ? Variable<B>{} : q;  // else it is ours
  tape.record({"coverage_scores", {q, keys, covered, w, w_m}, {score}, {read, keys, covered, w, w_m}},
              [=, &tape](Gradients<B>& d) {
                T* d_sum = tape.scratch(2 * q.size());
                T* d_query = apart ? d_sum + q.size() : d.to(q);
                if (apart) B::fill(d_query, q.size(), T(0));
                B::for_rows(spans.queries, detail::CoverageAdjointRow<T, View>{
                                               spans, width, q.value, keys.value, w.value, w_m.value,
                                               covered.value, d.of(score), d_query, d.to(keys), d.to(w),
                                               d.to(w_m), d.wants(covered) ? d.to(covered) : nullptr, d_sum});
                if (query.given)
                  B::copy(d_query, q.size(), d.in_place(q));
                else if (apart)
                  detail::add_elements<B>(q.size(), d_query, d.to(q));
              });
  return score;
}

/// What the compiler says of others.
template <class S>
struct Coverage : S {
  static_assert(std::same_as<S, Additive>,
                "bahdanau: Coverage is a term under the tanh of the additive score; use Coverage<Additive>");
};

/// a(q, k) = w_vᵀ tanh(W_q q + W_k k + m w_m), without biases; m is the sum of the key's earlier α, before
/// dropout, and 0 at first (See, Liu and Manning 2017).
template <>
struct Coverage<Additive> {
  static constexpr std::string_view name = "coverage(additive)";
  static constexpr bool needs_equal_widths = false;
  struct Weights {
    Additive::Weights additive;
    Parameter w_m;  // [hidden, 1]
  };

  static Weights declare(Scope scope, ScoreWidths widths) {
    return {Additive::declare(scope, widths), scope.matrix("w_m.weight", widths.hidden, 1)};
  }

  template <Backend B>
  static Variable<B> prepare(const Weights& w, const Variable<B>& keys) {
    return Additive::prepare(w.additive, keys);
  }

  /// m, for each query with each of its keys.
  template <Backend B>
  struct State {
    Variable<B> covered;  // [pairs]
    template <class F>
    void each_pair(F f) {
      f(covered);
    }
  };

  template <Backend B>
  static State<B> start(const Weights&, Tape<B>& tape, const SpanView<B>& spans) {
    return {tape.zeros({spans.pairs})};
  }

  template <Backend B>
  static Attended<B> attend(const Weights& w, const AttentionStep<B>& step, State<B>& state) {
    Tape<B>& tape = *step.query.tape;
    const Variable<B> scores =
        coverage_scores(linear(step.query, w.additive.W_q, Result::given), step.memory.keys, state.covered,
                        tape[w.additive.w_v], tape[w.w_m], step.spans);
    const Variable<B> alpha = softmax(scores, step.spans);
    state.covered = state.covered + alpha;
    return {span_sum(step.drop(alpha), step.memory.values, step.spans), alpha};
  }
};

static_assert(Score<Coverage<Additive>>);

}  // namespace bahdanau
