// One round of attention: scores, softmax over the keys in reach, and the weighted sum of the values.
// Everything that attends goes through here: decoders, and `Attention` used alone.
#pragma once

#include <cstddef>

#include <bahdanau/autograd/ops.hpp>
#include <bahdanau/model/dropout_plan.hpp>
#include <bahdanau/score/score.hpp>

namespace bahdanau::detail {

/// Keys and values as the score wants them. What depends on them alone is computed here, once.
template <class S, Backend B>
Memory<B> remember(const typename S::Weights& weights, const Variable<B>& keys, const Variable<B>& values) {
  if constexpr (requires { S::prepare_values(weights, values); })
    return {S::prepare(weights, keys), S::prepare_values(weights, values)};
  else
    return {S::prepare(weights, keys), values};
}

/// How wide contexts are.
template <class S>
std::size_t context_width(const ScoreWidths& widths) {
  if constexpr (requires { S::context_width(widths); })
    return S::context_width(widths);
  else
    return widths.value;
}

/// α = softmax a(q, k), c = Σ α v; dropout acts on the α that enters the sum.
template <class S, Backend B>
Attended<B> attend(const typename S::Weights& weights, const AttentionStep<B>& step,
                   ScoreState<S, B>& state) {
  if constexpr (StatefulScore<S, B>) {
    return S::attend(weights, step, state);
  } else if constexpr (requires { S::attend(weights, step); }) {
    return S::attend(weights, step);
  } else {
    const Variable<B> alpha =
        softmax(S::scores(weights, step.query, step.memory.keys, step.spans), step.spans);
    return {span_sum(step.drop(alpha), step.memory.values, step.spans), alpha};
  }
}

}  // namespace bahdanau::detail
