// What the tests of all cells share: a cell's parameters on a tape, and the gradient check of all of them.
// A cell's weights are one flat input of the gradient check, so that every one of them is checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include <bahdanau/cell/cell.hpp>
#include <bahdanau/nn/weights.hpp>

#include "support/gradient.hpp"

namespace bahdanau::test {

/// A cell with weights and gradients of its own, and a tape bound to them.
template <class C, Backend B>
struct BoundCell {
  using Scalar = typename B::Scalar;

  ParameterList list;
  typename C::Weights w;
  ParameterBlock<B> weights, gradients;
  Tape<B> tape{Tape<B>::Mode::checked};

  BoundCell(std::size_t inputs, std::size_t hidden, std::uint64_t seed = 1)
      : w(C::declare(Scope(list), inputs, hidden)), weights(list), gradients(list) {
    weights.initialize(list, seed);
    bind(tape, weights, &gradients);
  }

  /// W_ih x + b_ih.
  Variable<B> project(const Variable<B>& x) { return linear(x, tape[w.weight_ih], tape[w.bias_ih]); }
};

/// The gradient check of `f(tape, weights, inputs)` with respect to the inputs and all of the cell's weights.
template <class C>
double cell_gradient_error(
    std::size_t inputs, std::size_t hidden,
    const std::function<DoubleVariable(DoubleTape&, const typename C::Weights&, Inputs)>& f,
    std::vector<Shape> shapes) {
  ParameterList list;
  const typename C::Weights weights = C::declare(Scope(list), inputs, hidden);
  shapes.push_back({list.size()});
  return gradient_error(
      [&](DoubleTape& tape, Inputs in) {
        tape.bind(in.back());
        return f(tape, weights, in.first(in.size() - 1));
      },
      shapes);
}

}  // namespace bahdanau::test
