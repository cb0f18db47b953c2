// The adjoints of the matrix products, against central differences.
// Three different extents each time, so that a mixed-up one cannot pass.
#include <cmath>
#include <cstddef>
#include <vector>

#include "support/backends.hpp"
#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/gradient.hpp"
#include "support/numbers.hpp"

using namespace bahdanau::test;
using bahdanau::Shape;
using bahdanau::Transpose;
using V = DoubleVariable;

TEST_CASE("a product passes the gradient check", "[ops][gradient]") {
  const Function f = [](DoubleTape&, Inputs in) { return matmul(in[0], in[1]); };
  CHECK(gradient_error(f, {{3, 4}, {4, 5}}) <= gradient_tolerance);
  const Function square = [](DoubleTape&, Inputs in) { return matmul(in[0], in[0]); };
  CHECK(gradient_error(square, {{4, 4}}) <= gradient_tolerance);
}

TEST_CASE("a batched product passes the gradient check, transposed or not", "[ops][gradient]") {
  const Function plain = [](DoubleTape&, Inputs in) { return batched_matmul(in[0], in[1]); };
  CHECK(gradient_error(plain, {{2, 3, 4}, {2, 4, 5}}) <= gradient_tolerance);
  const Function transposed = [](DoubleTape&, Inputs in) {
    return batched_matmul(in[0], in[1], Transpose::yes);
  };
  CHECK(gradient_error(transposed, {{2, 3, 4}, {2, 5, 4}}) <= gradient_tolerance);
}

TEST_CASE("a linear map passes the gradient check, with and without a bias", "[ops][gradient]") {
  const Function plain = [](DoubleTape&, Inputs in) { return linear(in[0], in[1]); };
  CHECK(gradient_error(plain, {{3, 4}, {5, 4}}) <= gradient_tolerance);
  CHECK(gradient_error(plain, {{2, 3, 4}, {5, 4}}) <= gradient_tolerance);  // leading extents are rows
  const Function biased = [](DoubleTape&, Inputs in) { return linear(in[0], in[1], in[2]); };
  CHECK(gradient_error(biased, {{3, 4}, {5, 4}, {5}}) <= gradient_tolerance);
}

TEST_CASE("a linear map by a block of columns passes the gradient check", "[ops][gradient]") {
  const Function block = [](DoubleTape&, Inputs in) { return linear_columns(in[0], in[1], in[2], 2); };
  CHECK(gradient_error(block, {{3, 4}, {5, 7}, {5}}) <= gradient_tolerance);
}

TEST_CASE("a linear map added in place passes the gradient check", "[ops][gradient]") {
  // What the decoder does: y = W [context ; embedding] + b in two parts.
  const Function parts = [](DoubleTape&, Inputs in) {
    const V y = linear_columns(in[0], in[2], in[3], 0);
    add_linear(y, in[1], in[2], 4);
    return tanh(y);
  };
  CHECK(gradient_error(parts, {{3, 4}, {3, 2}, {5, 6}, {5}}) <= gradient_tolerance);
}

TEST_CASE("a linear map of rows that are shared is that of their copies, and so is its gradient",
          "[ops][gradient]") {
  const std::vector<bahdanau::Index> rows{2, 0, 2, 2, 1, 0};
  const auto maps = [&](bool shared) {
    return [&rows, shared](DoubleTape& tape, Inputs in) {
      const bahdanau::Index* index = tape.keep(rows);
      const V x = shared ? share_rows(in[0], index, rows.size()) : gather_rows(in[0], index, rows.size());
      REQUIRE((x.shared != nullptr) == shared);
      const V y = linear(x, in[1], in[2]);  // onto a bias
      add_linear(y, x, in[3]);              // onto a result
      return tanh(y + linear(x, in[1]));    // onto nothing
    };
  };
  const std::vector<Shape> shapes{{3, 4}, {5, 4}, {5}, {5, 4}};
  CHECK(gradient_error(maps(true), shapes) <= gradient_tolerance);
  DoubleTape tape(DoubleTape::Mode::checked);
  std::vector<V> in;
  for (std::size_t i = 0; i < shapes.size(); ++i)
    in.push_back(tape.leaf(shapes[i], numbers<double>(shapes[i].size(), i)));
  CHECK(largest_difference(bahdanau::value<2>(maps(true)(tape, in)),
                           bahdanau::value<2>(maps(false)(tape, in))) < 1e-14);
}

TEST_CASE("a linear map in two parts is the map of the parts side by side", "[ops]") {
  DoubleTape tape(DoubleTape::Mode::checked);
  const auto leaf = [&](Shape shape, double first) {
    std::vector<double> numbers(shape.size());
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = std::sin(first + static_cast<double>(i));
    return tape.leaf(shape, numbers);
  };
  const V a = leaf({3, 4}, 1), b = leaf({3, 2}, 2), w = leaf({5, 6}, 3), bias = leaf({5}, 4);
  const V y = linear_columns(a, w, bias, 0);
  add_linear(y, b, w, 4);
  const V whole = linear(bahdanau::concat_columns({a, b}), w, bias);
  CHECK(largest_difference(value<2>(y), value<2>(whole)) < 1e-13);
}

TEST_CASE("a computed weight or bias passes the gradient check", "[ops][gradient]") {
  // Its own adjoint must find its gradient complete, so this one cannot wait for the end.
  const Function weight = [](DoubleTape&, Inputs in) { return linear(in[0], tanh(in[1])); };
  CHECK(gradient_error(weight, {{3, 4}, {5, 4}}) <= gradient_tolerance);
  const Function both = [](DoubleTape&, Inputs in) { return linear(in[0], tanh(in[1]), tanh(in[2])); };
  CHECK(gradient_error(both, {{3, 4}, {5, 4}, {5}}) <= gradient_tolerance);
  const Function bias = [](DoubleTape&, Inputs in) { return linear(in[0], in[1], tanh(in[2])); };
  CHECK(gradient_error(bias, {{3, 4}, {5, 4}, {5}}) <= gradient_tolerance);
  const Function bias_alone = [](DoubleTape& tape, Inputs in) {
    return linear(in[0], tape.zeros({5, 4}), tanh(in[1]));
  };
  CHECK(gradient_error(bias_alone, {{3, 4}, {5}}) <= gradient_tolerance);
}

TEST_CASE("a weight used again in another layout passes the gradient check", "[ops][gradient]") {
  const Function f = [](DoubleTape&, Inputs in) {
    const V w = in[1];  // [4, 6]
    const V y = linear(in[0], w.reshape({8, 3}).row_range(0, 4));
    add_linear(y, in[0], w, 0);
    return y;
  };
  CHECK(gradient_error(f, {{2, 3}, {4, 6}}) <= gradient_tolerance);
}
