// What the tests of all scores share: the gradient check of attention with a score.
// A score's weights are one flat input of the gradient check, so that every one of them is checked.
#pragma once

#include <vector>

#include <bahdanau/autograd/ops.hpp>
#include <bahdanau/nn/parameter.hpp>
#include <bahdanau/score/score.hpp>

#include "support/gradient.hpp"

namespace bahdanau::test {

/// The gradient check of attention with this score: queries, keys, values and all of the score's weights.
template <class S>
double attention_gradient_error(ScoreWidths widths) {
  const std::vector<Index> begin = {0, 0, 3, 5}, length = {3, 3, 2, 1};  // six keys; the first two share
  ParameterList list;
  const typename S::Weights weights = S::declare(Scope(list), widths);
  std::vector<Shape> shapes = {{4, widths.query}, {6, widths.key}, {6, 2}};
  if (list.size() > 0) shapes.push_back({list.size()});
  return gradient_error(
      [&](DoubleTape& tape, Inputs in) {
        if (list.size() > 0) tape.bind(in[3]);
        const Spans<Double> spans(tape, begin, length);
        const DoubleVariable prepared = S::prepare(weights, in[1]);
        const DoubleVariable alpha = softmax(S::scores(weights, in[0], prepared, spans.view()), spans.view());
        return span_sum(alpha, in[2], spans.view());
      },
      shapes);
}

}  // namespace bahdanau::test
