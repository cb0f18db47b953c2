// Operations between queries and the keys in their spans: what attention is made of.
// A pair is one query with one key; scores and weights are flat arrays with one element per pair.
#pragma once

#include <cmath>
#include <cstddef>

#include <bahdanau/autograd/ops/common.hpp>
#include <bahdanau/autograd/spans.hpp>

namespace bahdanau {

namespace detail {

/// out[pair] = scale · Σ_c query[r, c] key[k, c], or the same added to what is there.
template <class T, class View>
struct SpanDotRow {
  View spans;
  T* out;
  bool empty;
  const T *query, *keys;
  std::size_t cols;
  T scale;
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t r) const {
    const auto [begin, first, n] = spans.span(r);
    for (std::size_t i = 0; i < n; ++i) {
      const T dot =
          lanes.sum(cols, pointwise::Times{}, query + r * cols, keys + (begin + i * spans.key_step) * cols);
      if (lanes.owns(0)) out[first + i] = std::fma(scale, dot, empty ? T(0) : out[first + i]);
    }
  }
};

/// out[r, :] = scale · Σ_pairs weight[pair] rows[k, :], or the same added to what is there.
template <class T, class View>
struct SpanSumRow {
  View spans;
  T* out;
  bool empty;
  const T *weight, *rows;
  std::size_t cols;
  T scale;
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t r) const {
    const auto [begin, first, n] = spans.span(r);
    if (empty && n > 0)
      lanes.map(cols, pointwise::Times{}, Store<T>{out + r * cols}, rows + begin * cols,
                scale * weight[first]);
    for (std::size_t i = empty ? 1 : 0; i < n; ++i)
      lanes.map(cols, pointwise::Times{}, Add<T>{out + r * cols}, rows + (begin + i * spans.key_step) * cols,
                scale * weight[first + i]);
  }
};

/// out[k, :] += scale · weight[pair] query[r, :] for every pair; queries may share keys.
template <class T, class View>
struct SpanSpreadRow {
  View spans;
  T* out;
  const T *weight, *query;
  std::size_t cols;
  T scale;
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t r) const {
    const auto [begin, first, n] = spans.span(r);
    for (std::size_t i = 0; i < n; ++i)
      lanes.map(cols, pointwise::Times{}, AddShared<T>{out + (begin + i * spans.key_step) * cols},
                query + r * cols, scale * weight[first + i]);
  }
};

/// score = scale · q·k for rows of queries [rows, cols], of which `spans` says which rows of keys [any, cols]
/// they meet.
template <class View, Backend B>
void record_span_dot(const Variable<B>& query, const Variable<B>& keys, const Variable<B>& score,
                     const View& spans, std::size_t rows, std::size_t cols, typename B::Scalar scale) {
  using T = typename B::Scalar;
  B::for_rows(rows, SpanDotRow<T, View>{spans, score.value, true, query.value, keys.value, cols, scale});
  query.tape->record({"span_dot", {query, keys}, {score}, {query, keys}}, [=](Gradients<B>& d) {
    const T* ds = d.of(score);
    // s = scale q·k  =>  dq += scale Σ ds k
    if (d.wants(query)) {
      const auto [dq, empty] = d.target(query);
      B::for_rows(rows, SpanSumRow<T, View>{spans, dq, empty, ds, keys.value, cols, scale});
    }
    // s = scale q·k  =>  dk += scale ds q
    if (d.wants(keys))
      B::for_rows(rows, SpanSpreadRow<T, View>{spans, d.to(keys), ds, query.value, cols, scale});
  });
}

/// context = Σ α v, in the same way.
template <class View, Backend B>
void record_span_sum(const Variable<B>& weight, const Variable<B>& values, const Variable<B>& context,
                     const View& spans, std::size_t rows, std::size_t cols) {
  using T = typename B::Scalar;
  B::for_rows(rows, SpanSumRow<T, View>{spans, context.value, true, weight.value, values.value, cols, T(1)});
  values.tape->record({"span_sum", {weight, values}, {context}, {weight, values}}, [=](Gradients<B>& d) {
    const T* dc = d.of(context);
    // c = Σ α v  =>  dα += dc · v
    if (d.wants(weight)) {
      const auto [d_weight, empty] = d.target(weight);
      B::for_rows(rows, SpanDotRow<T, View>{spans, d_weight, empty, dc, values.value, cols, T(1)});
    }
    // c = Σ α v  =>  dv += α dc
    if (d.wants(values))
      B::for_rows(rows, SpanSpreadRow<T, View>{spans, d.to(values), weight.value, dc, cols, T(1)});
  });
}

}  // namespace detail

/// score[pair] = scale · query_r · key_k: query [queries, width], keys [keys, width], score [pairs].
template <Backend B>
Variable<B> span_dot(const Variable<B>& query, const Variable<B>& keys, const SpanView<B>& spans,
                     typename B::Scalar scale = 1) {
  detail::require_same_tape("span_dot", query, keys);
  detail::require_equal("span_dot", "queries:", spans.queries, query.rows());
  detail::require_equal("span_dot", "keys of width", query.cols(), keys.cols());
  detail::require_keys<B>("span_dot", spans, keys);
  const Variable<B> score = query.tape->variable({spans.pairs});
  detail::record_span_dot(query, keys, score, spans, spans.queries, query.cols(), scale);
  return score;
}

/// context[r, :] = Σ_pairs weight[pair] value_k: weight [pairs], values [keys, width], context [queries,
/// width].
template <Backend B>
Variable<B> span_sum(const Variable<B>& weight, const Variable<B>& values, const SpanView<B>& spans) {
  detail::require_same_tape("span_sum", weight, values);
  detail::require_equal("span_sum", "weights, one per pair:", spans.pairs, weight.size());
  detail::require_keys<B>("span_sum", spans, values);
  const Variable<B> context = values.tape->variable({spans.queries, values.cols()});
  detail::record_span_sum(weight, values, context, spans, spans.queries, values.cols());
  return context;
}

}  // namespace bahdanau
