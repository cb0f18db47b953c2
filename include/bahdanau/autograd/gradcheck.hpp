// The check of a gradient against central differences: what every operation, cell and score must pass.
// For a researcher's own ones too: run it in double.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <span>
#include <vector>

#include <bahdanau/autograd/ops.hpp>
#include <bahdanau/autograd/tape.hpp>
#include <bahdanau/core/random.hpp>

namespace bahdanau {

/// What a gradient check found.
struct GradientCheck {
  double error = 0;    // largest difference between tape and central difference, over all inputs
  double largest = 0;  // largest central difference
  /// The error in units of the largest entry; what tests compare with 1e-6.
  double relative() const { return largest == 0 ? error : error / largest; }
};

/// Compares the tape's gradient with central differences. `f(tape, inputs)` builds any result from the input
/// variables; it is made a scalar by fixed random weights, so no entry hides behind another.
template <Backend B, class F>
requires std::same_as<typename B::Scalar, double> GradientCheck
check_gradient(F f, const std::vector<Shape>& shapes, random::Key key = {1}, double step = 1e-5) {
  std::vector<std::vector<double>> inputs;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    inputs.emplace_back(shapes[i].size());
    for (std::size_t j = 0; j < inputs[i].size(); ++j) inputs[i][j] = key.derive(i).normal(j);
  }
  std::vector<std::vector<double>> gradients;
  const auto evaluate = [&](bool with_gradients) {
    Tape<B> tape(Tape<B>::Mode::checked);
    std::vector<Variable<B>> variables;
    for (std::size_t i = 0; i < shapes.size(); ++i) variables.push_back(tape.leaf(shapes[i], inputs[i]));
    const Variable<B> result = f(tape, std::span<const Variable<B>>(variables));
    std::vector<double> weights(result.size());
    for (std::size_t j = 0; j < weights.size(); ++j) weights[j] = key.derive(1000).normal(j);
    const Variable<B> scalar = sum(result * tape.constant(result.shape, weights));
    if (with_gradients) {
      tape.backward(scalar);
      for (const Variable<B>& v : variables) {
        gradients.emplace_back(v.size());
        B::download(tape.gradient_of(v), v.size(), gradients.back().data());
      }
    }
    double value = 0;
    B::download(scalar.value, 1, &value);
    return value;
  };
  evaluate(true);
  GradientCheck found;
  for (std::size_t i = 0; i < shapes.size(); ++i)
    for (std::size_t j = 0; j < inputs[i].size(); ++j) {
      const double here = inputs[i][j];
      inputs[i][j] = here + step;
      const double above = evaluate(false);
      inputs[i][j] = here - step;
      const double below = evaluate(false);
      inputs[i][j] = here;
      const double difference = (above - below) / (2 * step);
      const double error = std::abs(difference - gradients[i][j]);
      found.error = std::max(found.error, std::isnan(error) ? HUGE_VAL : error);  // max would drop a NaN
      found.largest = std::max(found.largest, std::abs(difference));
    }
  return found;
}

}  // namespace bahdanau
