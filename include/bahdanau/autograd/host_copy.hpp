// Copies from the device into ordinary arrays: how results leave a tape.
// The caller names the rank; a wrong one is an error that shows the shape.
#pragma once

#include <array>
#include <cstddef>

#include <bahdanau/backend/backend.hpp>
#include <bahdanau/core/array.hpp>
#include <bahdanau/core/shape.hpp>

namespace bahdanau::detail {

template <std::size_t Rank, Backend B>
Array<typename B::Scalar, Rank> host_copy(const typename B::Scalar* data, const Shape& shape) {
  require_equal("host copy of " + shape.text(), "rank", shape.rank(), Rank);
  std::array<std::size_t, Rank> extents{};
  for (std::size_t axis = 0; axis < Rank; ++axis) extents[axis] = shape[axis];
  auto out = Array<typename B::Scalar, Rank>::from_shape(extents);
  B::download(data, shape.size(), out.data());
  return out;
}

}  // namespace bahdanau::detail
