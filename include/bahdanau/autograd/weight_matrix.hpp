// A weight as a product sees it: which block of a parameter, and whether it is transposed.
// It stands for the same numbers wherever a packed form of them lies.
#pragma once

#include <cstddef>

#include <bahdanau/backend/backend.hpp>

namespace bahdanau {

/// op(W) [k, n] of the weights, or of some of their columns, that products share.
template <Backend B>
struct WeightMatrix {
  using Scalar = typename B::Scalar;
  const Scalar* data = nullptr;  // W, rows `stride` apart
  std::size_t k = 0, n = 0, stride = 0;
  Transpose op = Transpose::no;
  friend bool operator==(const WeightMatrix&, const WeightMatrix&) = default;
};

}  // namespace bahdanau
