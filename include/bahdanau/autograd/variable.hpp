// A variable: an array on a tape, with room for the gradient of the result with respect to it.
// It is a handle of a few words, copied freely; the tape owns the memory.
#pragma once

#include <cstddef>

#include <bahdanau/backend/backend.hpp>
#include <bahdanau/core/shape.hpp>

namespace bahdanau {

template <Backend B>
class Tape;

namespace detail {

/// Room for what adjoints add to one parameter's gradient themselves; cleared when the first of them comes.
template <Backend B>
struct OwnGradient {
  typename B::Scalar* data = nullptr;
  std::size_t size = 0;
  bool used = false;

  void use() {
    if (!used) B::fill(data, size, typename B::Scalar(0));
    used = true;
  }
};

/// A pointer to a gradient, null for a constant. Reading it from a parameter says that it will be written:
/// most parameters' gradients come from products that are put off, and then the room is never touched.
template <Backend B>
class GradientPointer {
 public:
  using Scalar = typename B::Scalar;
  GradientPointer(Scalar* data = nullptr, OwnGradient<B>* own = nullptr) : data_(data), own_(own) {}

  operator Scalar*() const {
    if (own_ != nullptr) own_->use();
    return data_;
  }
  explicit operator bool() const { return data_ != nullptr; }
  bool operator==(std::nullptr_t) const { return data_ == nullptr; }
  GradientPointer shifted(std::size_t by) const { return data_ ? GradientPointer(data_ + by, own_) : *this; }
  /// The place alone, which nobody is going to write.
  Scalar* place() const { return data_; }
  bool is_own() const { return own_ != nullptr; }

 private:
  Scalar* data_;
  OwnGradient<B>* own_;
};

/// How rows of an array came about: row r is a copy of `value[row[r]]`, of which there are fewer.
template <Backend B>
struct SharedRows {
  const typename B::Scalar* value = nullptr;
  std::size_t count = 0;
  const Index* row = nullptr;
};

}  // namespace detail

/// An array on a tape. `gradient` is null for a constant, and for everything on a tape that does not record.
template <Backend B>
struct Variable {
  using Scalar = typename B::Scalar;

  Tape<B>* tape = nullptr;
  Scalar* value = nullptr;
  detail::GradientPointer<B> gradient;
  Shape shape;
  bool leaf = false;       // an input or a parameter: no adjoint reads its gradient
  bool used_up = false;    // its one consumer may write over it, and stores its gradient in its place
  bool passed_on = false;  // its one consumer is a product, which stores its gradient
  bool passing = false;    // its gradient is there for adjoints alone: see Tape::passing
  const detail::SharedRows<B>* shared = nullptr;  // where rows are equal: products need each once

  std::size_t size() const { return shape.size(); }
  std::size_t rows() const { return shape.rows(); }
  std::size_t cols() const { return shape.cols(); }

  /// Rows begin, ..., begin + count - 1 of a matrix [rows, cols]: the same memory, no copy and no adjoint.
  Variable row_range(std::size_t begin, std::size_t count) const {
    if (begin > rows() || count > rows() - begin)
      fail("row_range", "begin + count of at most " + detail::text(rows()),
           detail::text(begin) + " + " + detail::text(count));
    const std::size_t offset = begin * cols();
    return {tape,      value + offset, gradient.shifted(offset), {count, cols()}, leaf, used_up,
            passed_on, passing};
  }

  /// The same elements in another shape: the same memory.
  Variable reshape(Shape other) const {
    if (other.size() != size())
      fail("reshape", "a shape of " + detail::text(size()) + " elements", other.text());
    return {tape, value, gradient, other, leaf, used_up, passed_on, passing};
  }
};

}  // namespace bahdanau
