// The additive score of Bahdanau, Cho and Bengio: a(q, k) = w_vᵀ tanh(W_q q + W_k k).
// The keys' projection is made once for a sentence; the rest is one fused operation per step.
#pragma once

#include <cstddef>
#include <string_view>

#include <bahdanau/score/score.hpp>

namespace bahdanau {

namespace pointwise {

/// w tanh(q + k)
struct AdditiveTerm {
  template <class V>
  BAHDANAU_HOST_DEVICE V operator()(V q, V k, V w) const {
    return w * pointwise::tanh(q + k);
  }
};

/// From q, k, w and ds: the gradients of the sum q + k, twice, and of w.
struct AdditiveTermAdjoint {
  template <class V>
  BAHDANAU_HOST_DEVICE Values<V, 3> operator()(V q, V k, V w, V ds) const {
    // s = w tanh(q + k); the tanh is computed again: cheaper than keeping one for each pair and unit
    const V t = pointwise::tanh(q + k);
    const V d_sum = ds * w * pointwise::multiply_add(-t, t, V(1));
    return {{d_sum, d_sum, ds * t}};
  }
};

}  // namespace pointwise

namespace detail {

template <class T, class View>
struct AdditiveRow {
  View spans;
  std::size_t width;
  T* score;
  const T *query, *keys, *w;
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t r) const {
    const auto [begin, first, n] = spans.span(r);
    for (std::size_t i = 0; i < n; ++i) {
      const T s =
          lanes.sum(width, pointwise::AdditiveTerm{}, query + r * width, keys + (begin + i) * width, w);
      if (lanes.owns(0)) score[first + i] = s;
    }
  }
};

template <class T, class View>
struct AdditiveAdjointRow {
  View spans;
  std::size_t width;
  const T *query, *keys, *w, *d_score;
  T *d_query, *d_keys, *dw;
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t r) const {
    const auto [begin, first, n] = spans.span(r);
    for (std::size_t i = 0; i < n; ++i)
      lanes.map(width, pointwise::AdditiveTermAdjoint{}, Add<T>{d_query + r * width},
                AddShared<T>{d_keys + (begin + i) * width}, AddShared<T>{dw}, query + r * width,
                keys + (begin + i) * width, w, d_score[first + i]);
  }
};

}  // namespace detail

/// score[pair] = Σ_c w[c] tanh(query[r, c] + key[k, c]): query [queries, width], keys [keys, width], w [1,
/// width].
template <Backend B>
Variable<B> additive_scores(const Variable<B>& query, const Variable<B>& keys, const Variable<B>& w,
                            const SpanView<B>& spans) {
  using T = typename B::Scalar;
  using View = SpanView<B>;
  detail::require_same_tape("additive_scores", query, keys);
  detail::require_same_tape("additive_scores", query, w);
  detail::require_equal("additive_scores", "queries:", spans.queries, query.rows());
  detail::require_equal("additive_scores", "keys of width", query.cols(), keys.cols());
  detail::require_keys<B>("additive_scores", spans, keys);
  detail::require_equal("additive_scores", "weights:", query.cols(), w.size());
  Tape<B>& tape = *query.tape;
  const std::size_t width = query.cols();
  const Variable<B> q = query.given ? tape.take(query) : query;
  const Variable<B> score = tape.variable({spans.pairs});
  B::for_rows(spans.queries,
              detail::AdditiveRow<T, View>{spans, width, score.value, q.value, keys.value, w.value});
  // A gradient that takes the query's own place must wait until the query was read for the last time. And one
  // kernel must not add to one place by two of its outputs, as it would where queries are the keys.
  const bool apart = query.given || query.array == keys.array;
  const Variable<B> read = query.given ? Variable<B>{} : q;  // else it is ours
  tape.record({"additive_scores", {q, keys, w}, {score}, {read, keys, w}}, [=, &tape](Gradients<B>& d) {
    T* d_query = apart ? tape.scratch(q.size()) : d.to(q);
    if (apart) B::fill(d_query, q.size(), T(0));
    B::for_rows(spans.queries,
                detail::AdditiveAdjointRow<T, View>{spans, width, q.value, keys.value, w.value, d.of(score),
                                                    d_query, d.to(keys), d.to(w)});
    if (query.given)
      B::copy(d_query, q.size(), d.in_place(q));
    else if (apart)
      detail::add_elements<B>(q.size(), d_query, d.to(q));
  });
  return score;
}

/// a(q, k) = w_vᵀ tanh(W_q q + W_k k), without biases.
struct Additive {
  static constexpr std::string_view name = "additive";
  static constexpr bool needs_equal_widths = false;
  struct Weights {
    Parameter W_q;  // [hidden, query]
    Parameter W_k;  // [hidden, key]
    Parameter w_v;  // [1, hidden]
  };

  static Weights declare(Scope scope, ScoreWidths widths) {
    return {scope.matrix("W_q.weight", widths.hidden, widths.query),
            scope.matrix("W_k.weight", widths.hidden, widths.key),
            scope.matrix("w_v.weight", 1, widths.hidden)};
  }

  /// W_k k: keys [keys, key] to [keys, hidden].
  template <Backend B>
  static Variable<B> prepare(const Weights& w, const Variable<B>& keys) {
    return linear(keys, w.W_k);
  }

  /// query [queries, query], prepared [keys, hidden] to [pairs].
  template <Backend B>
  static Variable<B> scores(const Weights& w, const Variable<B>& query, const Variable<B>& prepared,
                            const SpanView<B>& spans) {
    Tape<B>& tape = *query.tape;
    return additive_scores(linear(query, w.W_q, Result::given), prepared, tape[w.w_v], spans);
  }
};

static_assert(Score<Additive>);

}  // namespace bahdanau
