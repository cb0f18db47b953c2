// What the tests of all scores share: the gradient check of attention with a score.
// A score's weights are one flat input of the gradient check, so that every one of them is checked.
#pragma once

#include <vector>

#include <bahdanau/model/attend.hpp>
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
  std::vector<Shape> shapes = {{4, widths.query}, {6, widths.key}, {6, widths.value == 0 ? 2 : widths.value}};
  if (list.size() > 0) shapes.push_back({list.size()});
  return gradient_error(
      [&](DoubleTape& tape, Inputs in) {
        if (list.size() > 0) tape.bind(in[3]);
        const Spans<Double> spans(tape, begin, length);
        const Memory<Double> memory = detail::remember<S>(weights, in[1], in[2]);
        detail::ScoreState<S, Double> state{};
        return detail::attend<S, Double>(weights, {in[0], memory, spans.view()}, state).context;
      },
      shapes);
}

}  // namespace bahdanau::test
