// One round of attention: scores, softmax over the keys in reach, and the weighted sum of the values.
// Everything that attends goes through here: the decoder, and `Attention` used alone.
#pragma once

#include <bahdanau/autograd/ops.hpp>
#include <bahdanau/model/dropout_plan.hpp>
#include <bahdanau/score/score.hpp>

namespace bahdanau::detail {

/// What can be attended to: keys as the score prepared them, and values, row by row.
template <Backend B>
struct Memory {
  Variable<B> keys;    // [keys, any]
  Variable<B> values;  // [keys, value]
};

template <Backend B>
struct Attended {
  Variable<B> context;  // [queries, value]
  Variable<B> weights;  // [pairs], before dropout
};

/// α = softmax a(q, k), c = Σ α v; dropout acts on the α that enters the sum.
template <class S, Backend B>
Attended<B> attend(const typename S::Weights& weights, const Variable<B>& query, const Memory<B>& memory,
                   const SpanView<B>& spans, const DropoutPlan& plan = {}, const Index* names = nullptr) {
  const Variable<B> alpha = softmax(S::scores(weights, query, memory.keys, spans), spans);
  const Variable<B> kept = plan.active() ? dropout(alpha, spans, plan.attention(), names) : alpha;
  return {span_sum(kept, memory.values, spans), alpha};
}

}  // namespace bahdanau::detail
