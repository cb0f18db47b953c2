// A variable: an array on a tape. It is a handle of a few words, copied freely; the tape owns the memory.
// Its gradient, the derivative of a result with respect to it, is the tape's as well: adjoints ask for it.
#pragma once

#include <cstddef>
#include <cstdint>

#include <bahdanau/backend/backend.hpp>
#include <bahdanau/core/shape.hpp>

namespace bahdanau {

template <Backend B>
class Tape;

namespace detail {

/// Which of a tape's arrays.
using ArrayId = std::uint32_t;
inline constexpr ArrayId no_array = ~ArrayId{0};

/// How rows of an array came about: row r is a copy of `value[row[r]]`, of which there are fewer.
template <Backend B>
struct SharedRows {
  const typename B::Scalar* value = nullptr;
  std::size_t count = 0;
  const Index* row = nullptr;
  ArrayId array = no_array;  // whose values they are
};

}  // namespace detail

/// An array on a tape, or some rows of one.
template <Backend B>
struct Variable {
  using Scalar = typename B::Scalar;

  Tape<B>* tape = nullptr;
  Scalar* value = nullptr;
  Shape shape;
  detail::ArrayId array = detail::no_array;       // whose gradient it has; none for a constant
  bool given = false;                             // to its one reader: see Result
  const detail::SharedRows<B>* shared = nullptr;  // where rows are equal: products need each once

  std::size_t size() const { return shape.size(); }
  std::size_t rows() const { return shape.rows(); }
  std::size_t cols() const { return shape.cols(); }
  /// Whether a gradient flows into it: not into a constant, and nowhere on a tape that does not record.
  bool has_gradient() const { return array != detail::no_array; }

  /// Rows begin, ..., begin + count - 1 of a matrix [rows, cols]: the same memory, no copy and no adjoint.
  Variable row_range(std::size_t begin, std::size_t count) const {
    if (begin > rows() || count > rows() - begin)
      fail("row_range", "begin + count of at most " + detail::text(rows()),
           detail::text(begin) + " + " + detail::text(count));
    return {tape, value + begin * cols(), {count, cols()}, array, given};
  }

  /// The same elements in another shape: the same memory.
  Variable reshape(Shape other) const {
    if (other.size() != size())
      fail("reshape", "a shape of " + detail::text(size()) + " elements", other.text());
    return {tape, value, other, array, given};
  }
};

}  // namespace bahdanau
