// Attention of several heads: the columns of queries, keys and values are cut into as many blocks, and each
// block attends by itself. Nothing is copied: a head of a query is a query of its own, over strided keys.
#pragma once

#include <cstddef>
#include <string_view>

#include <bahdanau/autograd/ops/dropout.hpp>
#include <bahdanau/autograd/ops/softmax.hpp>
#include <bahdanau/autograd/ops/spans.hpp>

namespace bahdanau {

namespace detail {

/// The heads of all queries as queries. Of a matrix [rows, heads · width], row r's head h is row
/// r · heads + h of the same memory as [rows · heads, width]. Scores and weights [pairs, heads] lie query
/// after query, and of each query head after head.
template <class View>
struct HeadSpans {
  View spans;
  std::size_t heads;
  std::size_t key_step = heads;
  BAHDANAU_HOST_DEVICE typename View::Span span(std::size_t row) const {
    const std::size_t head = row % heads;
    const auto [key, pair, count] = spans.span(row / heads);
    return {key * heads + head, pair * heads + head * count, count};
  }
  // For softmax: see SpanRows.
  BAHDANAU_HOST_DEVICE std::size_t begin(std::size_t row) const { return span(row).pair; }
  BAHDANAU_HOST_DEVICE std::size_t valid(std::size_t row) const { return span(row).count; }
  BAHDANAU_HOST_DEVICE std::size_t padding(std::size_t) const { return 0; }
};

/// mean[pair] = Σ_h weight[pair, h] / heads
template <class T, class View>
struct HeadMeanRow {
  HeadSpans<View> heads;
  T* mean;
  const T* weight;
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t r) const {
    const auto [key, pair, n] = heads.spans.span(r);
    const T* from = weight + pair * heads.heads;
    const T share = T(1) / static_cast<T>(heads.heads);
    lanes.map(n, pointwise::Times{}, Store<T>{mean + pair}, from, share);
    for (std::size_t h = 1; h < heads.heads; ++h)
      lanes.map(n, pointwise::Times{}, Add<T>{mean + pair}, from + h * n, share);
  }
};

/// d_weight[pair, h] += d_mean[pair] / heads
template <class T, class View>
struct HeadMeanAdjointRow {
  HeadSpans<View> heads;
  T* d_weight;
  const T* d_mean;
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t row) const {
    const auto [key, pair, n] = heads.span(row);
    const T share = T(1) / static_cast<T>(heads.heads);
    lanes.map(n, pointwise::Times{}, Add<T>{d_weight + pair},
              d_mean + heads.spans.span(row / heads.heads).pair, share);
  }
};

/// Throws unless so many heads divide the columns.
template <Backend B>
void require_heads(std::string_view where, const Variable<B>& v, std::size_t heads) {
  if (heads == 0 || v.cols() % heads != 0)
    fail(where, "a width that " + text(heads) + " heads divide", v.shape.text());
}

}  // namespace detail

/// score[pair, h] = scale · (query_r · key_k in the columns of head h): query [queries, width], keys [keys,
/// width]; score [pairs, heads], of each query head after head.
template <Backend B>
Variable<B> head_dot(const Variable<B>& query, const Variable<B>& keys, const SpanView<B>& spans,
                     std::size_t heads, typename B::Scalar scale = 1) {
  detail::require_same_tape("head_dot", query, keys);
  detail::require_equal("head_dot", "queries:", spans.queries, query.rows());
  detail::require_equal("head_dot", "keys of width", query.cols(), keys.cols());
  detail::require_keys<B>("head_dot", spans, keys);
  detail::require_heads("head_dot", query, heads);
  const Variable<B> score = query.tape->variable({spans.pairs, heads});
  detail::record_span_dot(query, keys, score, detail::HeadSpans<SpanView<B>>{spans, heads},
                          spans.queries * heads, query.cols() / heads, scale);
  return score;
}

/// α = softmax of the scores of each query and head; scores and α as `head_dot` gives them.
template <Backend B>
Variable<B> head_softmax(const Variable<B>& scores, const SpanView<B>& spans) {
  detail::require_made("head_softmax", scores);
  detail::require_shape("head_softmax", "scores", Shape{spans.pairs, scores.cols()}, scores.shape);
  return detail::softmax_over(scores, detail::HeadSpans<SpanView<B>>{spans, scores.cols()},
                              spans.queries * scores.cols());
}

/// context[r, :] = Σ_pairs weight[pair, h] value_k in the columns of each head h: values [keys, width],
/// context [queries, width].
template <Backend B>
Variable<B> head_sum(const Variable<B>& weight, const Variable<B>& values, const SpanView<B>& spans) {
  detail::require_same_tape("head_sum", weight, values);
  detail::require_shape("head_sum", "weights", Shape{spans.pairs, weight.cols()}, weight.shape);
  detail::require_keys<B>("head_sum", spans, values);
  detail::require_heads("head_sum", values, weight.cols());
  const std::size_t heads = weight.cols();
  const Variable<B> context = values.tape->variable({spans.queries, values.cols()});
  detail::record_span_sum(weight, values, context, detail::HeadSpans<SpanView<B>>{spans, heads},
                          spans.queries * heads, values.cols() / heads);
  return context;
}

/// mean[pair] = Σ_h weight[pair, h] / heads: weight as `head_dot` gives it, mean [pairs].
template <Backend B>
Variable<B> head_mean(const Variable<B>& weight, const SpanView<B>& spans) {
  using T = typename B::Scalar;
  using View = SpanView<B>;
  detail::require_made("head_mean", weight);
  detail::require_shape("head_mean", "weights", Shape{spans.pairs, weight.cols()}, weight.shape);
  const detail::HeadSpans<View> heads{spans, weight.cols()};
  const Variable<B> mean = weight.tape->variable({spans.pairs});
  B::for_rows(spans.queries, detail::HeadMeanRow<T, View>{heads, mean.value, weight.value});
  weight.tape->record({"head_mean", {weight}, {mean}}, [=](Gradients<B>& d) {
    // mean = Σ_h α_h / heads  =>  dα_h += dmean / heads
    B::for_rows(heads.spans.queries * heads.heads,
                detail::HeadMeanAdjointRow<T, View>{heads, d.to(weight), d.of(mean)});
  });
  return mean;
}

/// weight ⊙ mask, with a mask for each head: weight as `head_dot` gives it.
template <Backend B>
Variable<B> head_dropout(const Variable<B>& weight, const SpanView<B>& spans, const DropoutMask& mask,
                         const Index* row_names = nullptr) {
  detail::require_rate(mask.rate);
  if (mask.rate == 0) return weight;
  detail::require_shape("head_dropout", "weights", Shape{spans.pairs, weight.cols()}, weight.shape);
  return detail::span_dropout("head_dropout", weight, spans, weight.cols(), mask, row_names);
}

}  // namespace bahdanau
