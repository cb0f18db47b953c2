// Extents, and how a shape reads as a matrix.
// What cannot be a shape is refused.
#include <cstddef>
#include <initializer_list>

#include <bahdanau/core/shape.hpp>

#include "support/catch.hpp"

using bahdanau::Error;
using bahdanau::Shape;
using Catch::Matchers::Message;

TEST_CASE("a shape reads as rows of its last extent", "[shape]") {
  const Shape cube{4, 7, 16}, matrix{3, 5}, vector{6};
  CHECK(cube.rank() == 3);
  CHECK(cube.size() == 448);
  CHECK(cube.rows() == 28);
  CHECK(cube.cols() == 16);
  CHECK(matrix.size() == 15);
  CHECK(matrix.rows() == 3);
  CHECK(matrix.cols() == 5);
  CHECK(vector.size() == 6);
  CHECK(vector.rows() == 1);
  CHECK(vector.cols() == 6);
  CHECK(cube[0] == 4);
  CHECK(cube[2] == 16);
}

TEST_CASE("a shape with an extent of zero is empty", "[shape]") {
  CHECK(Shape{0, 5}.size() == 0);
  CHECK(Shape{0, 5}.rows() == 0);
  CHECK(Shape{5, 0}.rows() == 5);
  CHECK(Shape{5, 0}.cols() == 0);
}

TEST_CASE("shapes are equal if rank and extents are", "[shape]") {
  CHECK(Shape{2, 3} == Shape{2, 3});
  CHECK(Shape{2, 3} != Shape{3, 2});
  CHECK(Shape{6} != Shape{6, 1});
  CHECK(Shape{6} != Shape{1, 6});
  CHECK(Shape{} != Shape{1});
}

TEST_CASE("a shape is printed in brackets", "[shape]") {
  CHECK(Shape{4, 7, 16}.text() == "[4, 7, 16]");
  CHECK(Shape{6}.text() == "[6]");
  CHECK(Shape{}.text() == "[]");
}

TEST_CASE("a shape of more than three extents is refused", "[shape]") {
  CHECK_THROWS_MATCHES(Shape({1, 2, 3, 4}), Error, Message("Shape: expected 1 to 3 extents, got 4"));
  CHECK_THROWS_MATCHES(Shape(std::initializer_list<std::size_t>{}), Error,
                       Message("Shape: expected 1 to 3 extents, got 0"));
}

TEST_CASE("a shape can be a constant of the program", "[shape]") {
  constexpr Shape shape{2, 3, 4};
  static_assert(shape.size() == 24 && shape.rows() == 6 && shape.cols() == 4);
  CHECK(shape.rank() == 3);
}

TEST_CASE("a wrong shape is reported with both shapes", "[shape]") {
  using bahdanau::detail::require_shape;
  CHECK_NOTHROW(require_shape("here", "keys", {2, 3}, {2, 3}));
  CHECK_THROWS_MATCHES(require_shape("here", "keys", {2, 3}, {3, 2}), Error,
                       Message("here: expected keys [2, 3], got [3, 2]"));
}
