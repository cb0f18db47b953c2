// Attention of several heads, each with projections of its own: PyTorch's nn.MultiheadAttention.
// Keys' and values' projections are made once for a sentence; heads read their columns of them in place.
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>

#include <bahdanau/nn/fixed_name.hpp>
#include <bahdanau/score/scaled_dot.hpp>

namespace bahdanau {

/// What the compiler says of others.
template <class S, std::size_t Heads>
struct MultiHead : S {
  static_assert(std::same_as<S, ScaledDot>,
                "bahdanau: the heads of a MultiHead compare by scaled dot products; use MultiHead<ScaledDot, "
                "4>");
  static_assert(!std::same_as<S, ScaledDot> || Heads > 0, "bahdanau: a MultiHead has at least one head");
};

/// For each head h: α_h = softmax(q_h·k_h / √d) over the keys, c_h = Σ α_h v_h, where q = W_q s + b_q, k =
/// W_k key + b_k and v = W_v value + b_v are cut into heads of d = hidden / heads columns; the context is W_o
/// [c_1 ; c_2 ; …] + b_o. Dropout acts on each α_h; what is reported is their mean, and each.
template <std::size_t Heads>
requires(Heads > 0) struct MultiHead<ScaledDot, Heads> {
  static constexpr auto spelled = fixed_name("multi_head(", ScaledDot::name, ",", Heads, ")");
  static constexpr std::string_view name = spelled;
  static constexpr bool needs_equal_widths = false;
  static constexpr std::size_t heads = Heads;
  struct Weights {
    Parameter query, key, value;  // [hidden, ...]: W_q, W_k, W_v
    Parameter query_bias, value_bias;
    Parameter out, out_bias;
  };

  /// Throws unless the heads divide the hidden width, and queries have it.
  static Weights declare(Scope scope, ScoreWidths widths) {
    const std::size_t hidden = widths.hidden;
    if (hidden == 0 || hidden % Heads != 0)
      fail("MultiHead", "a hidden width that " + detail::text(Heads) + " heads divide", detail::text(hidden));
    detail::require_equal("MultiHead", "queries of width", hidden, widths.query);
    Weights w;
    if (widths.key == hidden && widths.value == hidden) {  // one matrix, as nn.MultiheadAttention has it
      const Parameter all = scope.matrix("in_proj_weight", 3 * hidden, hidden);
      w.query = {all.offset, {hidden, hidden}};
      w.key = {all.offset + hidden * hidden, {hidden, hidden}};
      w.value = {all.offset + 2 * hidden * hidden, {hidden, hidden}};
    } else {
      w.query = scope.matrix("q_proj_weight", hidden, hidden);
      w.key = scope.matrix("k_proj_weight", hidden, widths.key);
      w.value = scope.matrix("v_proj_weight", hidden, widths.value);
    }
    // b_k, in the middle, adds q_h·b_k to all scores of a query, which softmax does not see: it is in files,
    // and nowhere else. Its gradient is 0.
    const Parameter biases = scope.add("in_proj_bias", {3 * hidden}, Initializer::zeros());
    w.query_bias = {biases.offset, {hidden}};
    w.value_bias = {biases.offset + 2 * hidden, {hidden}};
    w.out = scope.matrix("out_proj.weight", hidden, hidden);
    w.out_bias = scope.add("out_proj.bias", {hidden}, Initializer::zeros());
    return w;
  }
  static std::size_t context_width(const ScoreWidths& widths) { return widths.hidden; }

  /// W_k k: keys [keys, key] to [keys, hidden].
  template <Backend B>
  static Variable<B> prepare(const Weights& w, const Variable<B>& keys) {
    return linear(keys, w.key);
  }
  /// W_v v + b_v: values [keys, value] to [keys, hidden].
  template <Backend B>
  static Variable<B> prepare_values(const Weights& w, const Variable<B>& values) {
    return linear(values, w.value, w.value_bias);
  }

  template <Backend B>
  static Attended<B> attend(const Weights& w, const AttentionStep<B>& step) {
    using T = typename B::Scalar;
    const Variable<B> query = linear(step.query, w.query, w.query_bias);  // [queries, hidden]
    const T scale = T(1) / std::sqrt(static_cast<T>(query.cols() / Heads));
    const Variable<B> alpha =
        head_softmax(head_dot(query, step.memory.keys, step.spans, Heads, scale), step.spans);
    const Variable<B> contexts =
        head_sum(head_dropout(alpha, step.spans, step.mask, step.names), step.memory.values, step.spans);
    return {linear(contexts, w.out, w.out_bias), head_mean(alpha, step.spans), alpha};
  }
};

static_assert(Score<MultiHead<ScaledDot, 4>>);

}  // namespace bahdanau
