// Values of the operations, worked out by hand.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include <bahdanau/autograd/ops.hpp>
#include <bahdanau/autograd/ops/best.hpp>

#include "support/backends.hpp"
#include "support/catch.hpp"
#include "support/compare.hpp"

using bahdanau::Array;
using bahdanau::concat_columns;
using bahdanau::concat_rows;
using bahdanau::DropoutMask;
using bahdanau::Index;
using bahdanau::Shape;
using bahdanau::Spans;
using bahdanau::Transpose;
using bahdanau::random::Key;
using bahdanau::test::largest_difference;
using bahdanau::test::on_host;

namespace {

using B = bahdanau::test::TestBackend<double>;
using V = bahdanau::Variable<B>;
using Numbers = std::vector<double>;

struct Fixture {
  bahdanau::Tape<B> tape;
  V array(Shape shape, const Numbers& numbers) { return tape.leaf(shape, numbers); }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "pointwise operations act on each element", "[ops]") {
  const V a = array({2, 2}, {1, 2, 3, -4}), b = array({2, 2}, {2, 2, -1, 8}), row = array({2}, {10, 100});
  CHECK(largest_difference(value<2>(a + b), {{3, 4}, {2, 4}}) == 0);
  CHECK(largest_difference(value<2>(a - b), {{-1, 0}, {4, -12}}) == 0);
  CHECK(largest_difference(value<2>(a * b), {{2, 4}, {-3, -32}}) == 0);
  CHECK(largest_difference(value<2>(a / b), {{0.5, 1}, {-3, -0.5}}) == 0);
  CHECK(largest_difference(value<2>(a + row), {{11, 102}, {13, 96}}) == 0);
  CHECK(largest_difference(value<2>(a - row), {{-9, -98}, {-7, -104}}) == 0);
  CHECK(largest_difference(value<2>(a * row), {{10, 200}, {30, -400}}) == 0);
  CHECK(largest_difference(value<2>(a / row), {{0.1, 0.02}, {0.3, -0.04}}) == 0);
  CHECK(largest_difference(value<2>(-a), {{-1, -2}, {-3, 4}}) == 0);
  CHECK(largest_difference(value<2>(0.5 * a), {{0.5, 1}, {1.5, -2}}) == 0);
  CHECK(largest_difference(value<2>(affine(a, 2.0, 1.0)), {{3, 5}, {7, -7}}) == 0);
  const V column = array({2, 1}, {10, 100});
  CHECK(largest_difference(value<2>(a + column), {{11, 12}, {103, 96}}) == 0);
  CHECK(largest_difference(value<2>(a - column), {{-9, -8}, {-97, -104}}) == 0);
  CHECK(largest_difference(value<2>(a * column), {{10, 20}, {300, -400}}) == 0);
  CHECK(largest_difference(value<2>(a / column), {{0.1, 0.2}, {0.03, -0.04}}) == 0);
  CHECK(largest_difference(value<2>(maximum(a, b)), {{2, 2}, {3, 8}}) == 0);
  CHECK(largest_difference(value<2>(maximum(a, array({2}, {2, -5}))), {{2, 2}, {3, -4}}) == 0);
  CHECK(largest_difference(value<2>(maximum(a, array({2, 1}, {1.5, -5}))), {{1.5, 2}, {3, -4}}) == 0);
  CHECK(largest_difference(value<2>(sqrt(a * a)), {{1, 2}, {3, 4}}) == 0);
  CHECK(largest_difference(value<2>(reciprocal(b)), {{0.5, 0.5}, {-1, 0.125}}) == 0);
  const double e = std::exp(1.0);
  CHECK(largest_difference(value<1>(exp(array({3}, {0, 1, -1}))), {1, e, 1 / e}) < 1e-15);
  CHECK(largest_difference(value<1>(log(array({3}, {1, e, 0.5}))), {0, 1, -std::log(2.0)}) < 1e-15);
  CHECK(largest_difference(value<1>(tanh(array({3}, {0, 1, -0.3}))), {0, std::tanh(1.0), std::tanh(-0.3)}) <
        1e-15);
  CHECK(largest_difference(value<1>(sigmoid(array({3}, {0, 1, -1}))), {0.5, e / (1 + e), 1 / (1 + e)}) <
        1e-15);
}

TEST_CASE_METHOD(Fixture, "the maximum is the larger one in every lane, and no number where one is none",
                 "[ops]") {
  Numbers a(19), b(19);  // wider than any vector
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<double>(i % 5);
    b[i] = static_cast<double>(i % 3);
  }
  const auto larger = value<1>(maximum(array({19}, a), array({19}, b)));
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(larger(i) == std::max(a[i], b[i]));
  const double nan = std::nan("");
  const auto mixed = value<1>(maximum(array({3}, {nan, 1, 2}), array({3}, {1, nan, 1})));
  CHECK(std::isnan(mixed(0)));
  CHECK(std::isnan(mixed(1)));
  CHECK(mixed(2) == 2);
}

TEST_CASE_METHOD(Fixture, "of two equal numbers each receives half of their maximum's gradient", "[ops]") {
  const V a = array({4}, {1, 2, 3, 4}), b = array({4}, {2, 2, 3, 1});
  tape.backward(sum(maximum(a, b)));
  CHECK(largest_difference(gradient<1>(a), {0, 0.5, 0.5, 1}) == 0);
  CHECK(largest_difference(gradient<1>(b), {1, 0.5, 0.5, 0}) == 0);
}

TEST_CASE_METHOD(Fixture, "a square array meets a vector as a row, and a column as a column", "[ops]") {
  const V a = array({2, 2}, {1, 2, 3, 4}), v = array({2}, {10, 20});
  CHECK(largest_difference(value<2>(a + v), {{11, 22}, {13, 24}}) == 0);
  CHECK(largest_difference(value<2>(a + v.reshape({2, 1})), {{11, 12}, {23, 24}}) == 0);
}

TEST_CASE_METHOD(Fixture, "products add up rows by columns", "[ops]") {
  const V a = array({2, 3}, {1, 2, 3, 4, 5, 6}), b = array({3, 2}, {1, 0, 0, 1, 2, -1});
  CHECK(largest_difference(value<2>(matmul(a, b)), {{7, -1}, {16, -1}}) == 0);
  const V w = array({2, 3}, {1, 0, 2, 0, 1, -1}), bias = array({2}, {10, 20});  // b transposed
  CHECK(largest_difference(value<2>(linear(a, w)), {{7, -1}, {16, -1}}) == 0);
  CHECK(largest_difference(value<2>(linear(a, w, bias)), {{17, 19}, {26, 19}}) == 0);
  const V wide = array({2, 5}, {9, 1, 0, 2, 9, 9, 0, 1, -1, 9});  // w is columns 1 to 3
  const V y = linear_columns(a, wide, bias, 1);
  CHECK(largest_difference(value<2>(y), {{17, 19}, {26, 19}}) == 0);
  add_linear(y, array({2, 1}, {1, 2}), wide, 4);
  CHECK(largest_difference(value<2>(y), {{26, 28}, {44, 37}}) == 0);
}

TEST_CASE_METHOD(Fixture, "batched products are one product a sentence", "[ops]") {
  const V a = array({2, 1, 2}, {1, 2, 3, 4}), b = array({2, 2, 2}, {1, 0, 0, 1, 1, 2, 3, 4});
  CHECK(largest_difference(value<3>(batched_matmul(a, b)), {{{1, 2}}, {{15, 22}}}) == 0);
  CHECK(largest_difference(value<3>(batched_matmul(a, b, Transpose::yes)), {{{1, 2}}, {{11, 25}}}) == 0);
}

TEST_CASE_METHOD(Fixture, "reductions add up what they say", "[ops]") {
  const V x = array({2, 3}, {1, 2, 3, 4, 5, 7});
  CHECK(largest_difference(value<1>(sum(x)), {22}) == 0);
  CHECK(largest_difference(value<1>(mean(array({4}, {1, 2, 3, 4}))), {2.5}) == 0);
  CHECK(largest_difference(value<1>(sum_columns(x)), {6, 16}) == 0);
  CHECK(largest_difference(value<1>(sum_rows(x)), {5, 7, 10}) == 0);
}

TEST_CASE_METHOD(Fixture, "elements are moved as they are", "[ops]") {
  const V a = array({2, 3}, {1, 2, 3, 4, 5, 6}), b = array({2, 1}, {7, 8});
  CHECK(largest_difference(value<2>(slice_columns(a, 1, 2)), {{2, 3}, {5, 6}}) == 0);
  CHECK(largest_difference(value<2>(concat_columns({a, b})), {{1, 2, 3, 7}, {4, 5, 6, 8}}) == 0);
  const std::vector<V> parts = {b, a.reshape({6, 1}).row_range(4, 2)};
  CHECK(largest_difference(value<2>(concat_rows<B>(parts)), {{7}, {8}, {5}, {6}}) == 0);
  const std::vector<Index> index = {1, 0, 1};
  CHECK(largest_difference(value<2>(gather_rows(a, index)), {{4, 5, 6}, {1, 2, 3}, {4, 5, 6}}) == 0);
  CHECK(largest_difference(value<2>(a.row_range(1, 1)), {{4, 5, 6}}) == 0);
  CHECK(largest_difference(value<2>(a.reshape({3, 2})), {{1, 2}, {3, 4}, {5, 6}}) == 0);
}

TEST_CASE_METHOD(Fixture, "softmax gives every valid position its share and padding exactly 0",
                 "[ops][mask]") {
  const double l2 = std::log(2.0), l5 = std::log(5.0);
  const V x = array({3, 3}, {0, l2, l5, 0, l2, 1000, 7, NAN, INFINITY});  // what is masked is never read
  const std::vector<Index> lengths = {3, 2, 1};
  const Array<double, 2> y = value<2>(softmax(x, lengths));
  CHECK(largest_difference(y, {{1.0 / 8, 2.0 / 8, 5.0 / 8}, {1.0 / 3, 2.0 / 3, 0}, {1, 0, 0}}) < 1e-15);
  CHECK((y(1, 2) == 0 && y(2, 1) == 0 && y(2, 2) == 0));
  // Scores beyond the range of exp
  const V huge = array({1, 2}, {1e5, 1e5 + l2});
  const std::vector<Index> both = {2};
  CHECK(largest_difference(value<2>(softmax(huge, both)), {{1.0 / 3, 2.0 / 3}}) < 1e-11);
}

TEST_CASE_METHOD(Fixture, "the best of a row come first, with the logarithm of softmax in any range",
                 "[ops]") {
  const double l2 = std::log(2.0);
  const V x = tape.constant({2, 3}, Numbers{0, l2, 0, 1e5, -1e5, 1e5});
  const auto best = best_of_rows(x, 2);
  CHECK(largest_difference(value<2>(best.log_probs), {{-l2, -2 * l2}, {-l2, -l2}}) < 1e-10);
  CHECK(on_host<B>(best.columns, 4) == std::vector<Index>{1, 0, 0, 2});
  CHECK_THROWS_AS(best_of_rows(x, 0), bahdanau::Error);
  CHECK_THROWS_AS(best_of_rows(x, 4), bahdanau::Error);
}

TEST_CASE_METHOD(Fixture, "the best of a long row are those of a sorted copy", "[ops]") {
  const std::size_t cols = 1000, count = 17;
  Numbers numbers(cols);
  for (std::size_t i = 0; i < cols; ++i) numbers[i] = static_cast<double>((i * 7919) % 257);  // with equals
  const auto best = best_of_rows(tape.constant({1, cols}, numbers), count);
  std::vector<Index> order(cols);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](Index a, Index b) {
    return std::pair(-numbers[static_cast<std::size_t>(a)], a) <
           std::pair(-numbers[static_cast<std::size_t>(b)], b);
  });
  order.resize(count);
  CHECK(on_host<B>(best.columns, count) == order);
  double total = 0;
  for (const double x : numbers) total += std::exp(x - 256);
  for (std::size_t i = 0; i < count; ++i)
    CHECK(value<2>(best.log_probs)(0, i) ==
          Approx(numbers[static_cast<std::size_t>(order[i])] - 256 - std::log(total)).epsilon(1e-13));
}

TEST_CASE_METHOD(Fixture, "each query meets the keys of its span", "[ops][spans]") {
  const std::vector<Index> begin = {0, 1, 1}, length = {1, 2, 2};
  const Spans<B> spans(tape, begin, length);
  const V query = array({3, 2}, {1, 1, 1, 0, 0, 2}), keys = array({3, 2}, {1, 2, 3, 4, 5, 6});
  CHECK(spans.view().pairs == 5);
  CHECK(largest_difference(value<1>(span_dot(query, keys, spans.view(), 0.5)), {1.5, 1.5, 2.5, 4, 6}) == 0);
  const double l3 = std::log(3.0);
  const V alpha = softmax(array({5}, {9, 0, 0, 0, l3}), spans.view());
  CHECK(largest_difference(value<1>(alpha), {1, 0.5, 0.5, 0.25, 0.75}) < 1e-15);
  CHECK(largest_difference(value<2>(span_sum(alpha, keys, spans.view())), {{1, 2}, {4, 5}, {4.5, 5.5}}) <
        1e-14);
  const auto two = spans.prefix(2);
  CHECK((two.queries == 2 && two.pairs == 3));
  CHECK(largest_difference(value<1>(span_dot(query.row_range(0, 2), keys, two)), {3, 3, 5}) == 0);
}
