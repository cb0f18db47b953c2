// The gradient check as tests use it: in double, one number against one tolerance.
// The function is type-erased, so that a file with twenty checks compiles the checker once.
#pragma once

#include <functional>
#include <limits>
#include <span>
#include <vector>

#include <bahdanau/autograd/gradcheck.hpp>

#include "support/backends.hpp"

namespace bahdanau::test {

using Double = TestBackend<double>;
using DoubleTape = Tape<Double>;
using DoubleVariable = Variable<Double>;
using Inputs = std::span<const DoubleVariable>;
using Function = std::function<DoubleVariable(DoubleTape&, Inputs)>;

/// What every gradient must keep to, relative to the largest entry.
inline constexpr double gradient_tolerance = 1e-6;

/// The relative error of the tape's gradient; infinity if nothing depends on the inputs, for such a check
/// would see nothing.
inline double gradient_error(const Function& f, const std::vector<Shape>& shapes) {
  const GradientCheck found = check_gradient<Double>(f, shapes);
  return found.largest > 0 ? found.relative() : std::numeric_limits<double>::infinity();
}

}  // namespace bahdanau::test
