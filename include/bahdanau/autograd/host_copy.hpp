// Copies between the device and ordinary arrays: how results leave a tape.
// The caller names the rank; a wrong one is an error that shows the shape.
#pragma once

#include <array>
#include <cstddef>

#include <bahdanau/autograd/variable.hpp>
#include <bahdanau/backend/backend.hpp>
#include <bahdanau/core/array.hpp>
#include <bahdanau/core/error.hpp>
#include <bahdanau/core/shape.hpp>

namespace bahdanau {
namespace detail {

template <class T, std::size_t Rank>
Shape shape_of(const Array<T, Rank>& host) {
  const auto& s = host.shape();
  if constexpr (Rank == 1)
    return {s[0]};
  else if constexpr (Rank == 2)
    return {s[0], s[1]};
  else
    return {s[0], s[1], s[2]};
}

template <std::size_t Rank, Backend B>
Array<typename B::Scalar, Rank> host_copy(const typename B::Scalar* data, const Shape& shape) {
  require_equal("host copy of " + shape.text(), "rank", shape.rank(), Rank);
  std::array<std::size_t, Rank> extents{};
  for (std::size_t axis = 0; axis < Rank; ++axis) extents[axis] = shape[axis];
  auto out = Array<typename B::Scalar, Rank>::from_shape(extents);
  B::download(data, shape.size(), out.data());
  return out;
}

}  // namespace detail

/// A host copy of a variable's value, with the rank that the caller names.
template <std::size_t Rank, Backend B>
Array<typename B::Scalar, Rank> value(const Variable<B>& v) {
  return detail::host_copy<Rank, B>(v.value, v.shape);
}

/// A host copy of a variable's gradient after `backward`. Inside of loops those of most arrays are gone then.
template <std::size_t Rank, Backend B>
Array<typename B::Scalar, Rank> gradient(const Variable<B>& v) {
  if (!v.has_gradient()) fail("gradient", "a variable with a gradient", "a constant");
  return detail::host_copy<Rank, B>(v.tape->gradient_of(v), v.shape);
}

}  // namespace bahdanau
