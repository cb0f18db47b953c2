// The extents of an array of one to three dimensions, always row-major and contiguous.
// A shape also reads as a matrix: `cols` is the last extent, `rows` the product of the others.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <string>

#include <bahdanau/core/error.hpp>

namespace bahdanau {

/// One to three extents; the value type that operations check and errors print.
class Shape {
 public:
  static constexpr std::size_t max_rank = 3;

  constexpr Shape() = default;
  constexpr Shape(std::initializer_list<std::size_t> extents) {
    if (extents.size() == 0 || extents.size() > max_rank)
      fail("Shape", "1 to 3 extents", detail::text(extents.size()));
    for (std::size_t extent : extents) extents_[rank_++] = extent;
  }

  constexpr std::size_t rank() const { return rank_; }
  constexpr std::size_t operator[](std::size_t axis) const { return extents_[axis]; }
  constexpr std::size_t size() const { return extents_[0] * extents_[1] * extents_[2]; }
  /// The last extent: the length of a contiguous run.
  constexpr std::size_t cols() const { return rank_ == 0 ? 1 : extents_[rank_ - 1]; }
  /// How many such runs there are; 1 for a vector.
  constexpr std::size_t rows() const {
    std::size_t product = 1;
    for (std::size_t axis = 0; axis + 1 < rank_; ++axis) product *= extents_[axis];
    return product;
  }

  friend constexpr bool operator==(const Shape&, const Shape&) = default;

  /// As it stands in messages: `[4, 7, 16]`.
  std::string text() const {
    std::string out = "[";
    for (std::size_t axis = 0; axis < rank_; ++axis)
      out += (axis == 0 ? "" : ", ") + detail::text(extents_[axis]);
    return out + "]";
  }

 private:
  std::array<std::size_t, max_rank> extents_{1, 1, 1};  // unused extents stay 1
  std::size_t rank_ = 0;
};

namespace detail {

/// Throws `where: expected <what> [..], got [..]` unless the shapes agree.
inline void require_shape(std::string_view where, std::string_view what, const Shape& expected,
                          const Shape& got) {
  if (expected == got) return;
  fail(where, std::string(what) + " " + expected.text(), got.text());
}

}  // namespace detail
}  // namespace bahdanau
