// A parameter as layers hold it: a place and a shape in a model's flat block of weights.
// `tape[parameter]` makes a variable of it; see nn/parameter.hpp for names and first values.
#pragma once

#include <cstddef>

#include <bahdanau/core/shape.hpp>

namespace bahdanau {

/// A place in the flat block of a model's parameters.
struct Parameter {
  std::size_t offset = 0;
  Shape shape;
};

/// y = x Wᵀ + b: W [outputs, inputs], b [outputs].
struct Dense {
  Parameter weight, bias;
};

}  // namespace bahdanau
