// A variable: an array on a tape, with room for the gradient of the result with respect to it.
// It is a handle of a few words, copied freely; the tape owns the memory.
#pragma once

#include <cstddef>

#include <bahdanau/backend/backend.hpp>
#include <bahdanau/core/shape.hpp>

namespace bahdanau {

template <Backend B>
class Tape;

/// An array on a tape. `gradient` is null for a constant, and for everything on a tape that does not record.
template <Backend B>
struct Variable {
  using Scalar = typename B::Scalar;

  Tape<B>* tape = nullptr;
  Scalar* value = nullptr;
  Scalar* gradient = nullptr;
  Shape shape;
  bool leaf = false;  // an input or a parameter: no adjoint reads its gradient

  std::size_t size() const { return shape.size(); }
  std::size_t rows() const { return shape.rows(); }
  std::size_t cols() const { return shape.cols(); }

  /// Rows begin, ..., begin + count - 1 of a matrix [rows, cols]: the same memory, no copy and no adjoint.
  Variable row_range(std::size_t begin, std::size_t count) const {
    if (begin > rows() || count > rows() - begin)
      fail("row_range", "begin + count of at most " + detail::text(rows()),
           detail::text(begin) + " + " + detail::text(count));
    const std::size_t offset = begin * cols();
    return {tape, value + offset, gradient ? gradient + offset : nullptr, {count, cols()}, leaf};
  }

  /// The same elements in another shape: the same memory.
  Variable reshape(Shape other) const {
    if (other.size() != size())
      fail("reshape", "a shape of " + detail::text(size()) + " elements", other.text());
    return {tape, value, gradient, other, leaf};
  }
};

}  // namespace bahdanau
