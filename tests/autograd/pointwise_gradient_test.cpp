// The adjoints of the pointwise operations and the reductions, against central differences.
// Widths beyond one vector, so that tails count.
#include <cmath>
#include <cstddef>
#include <vector>

#include "support/backends.hpp"
#include "support/catch.hpp"
#include "support/gradient.hpp"

using namespace bahdanau::test;
using bahdanau::Shape;
using V = DoubleVariable;

namespace {

/// Inputs are normal numbers; this makes positive ones of them that stay away from 0.
V positive(const V& x) { return affine(x * x, 1.0, 0.5); }

double error_of(V (*f)(const V&), const Shape& shape) {
  return gradient_error([f](DoubleTape&, Inputs in) { return f(in[0]); }, {shape});
}
double error_of(V (*f)(const V&, const V&), const Shape& a, const Shape& b) {
  return gradient_error([f](DoubleTape&, Inputs in) { return f(in[0], in[1]); }, {a, b});
}

}  // namespace

TEST_CASE("functions of one array pass the gradient check", "[ops][gradient]") {
  for (const Shape& shape : {Shape{3, 11}, Shape{1}, Shape{2, 3, 4}}) {
    CAPTURE(shape.text());
    CHECK(error_of([](const V& x) { return tanh(x); }, shape) <= gradient_tolerance);
    CHECK(error_of([](const V& x) { return sigmoid(x); }, shape) <= gradient_tolerance);
    CHECK(error_of([](const V& x) { return exp(x); }, shape) <= gradient_tolerance);
    CHECK(error_of([](const V& x) { return log(positive(x)); }, shape) <= gradient_tolerance);
    CHECK(error_of([](const V& x) { return sqrt(positive(x)); }, shape) <= gradient_tolerance);
    CHECK(error_of([](const V& x) { return reciprocal(positive(x)); }, shape) <= gradient_tolerance);
    CHECK(error_of([](const V& x) { return affine(x, -1.5, 0.25); }, shape) <= gradient_tolerance);
    CHECK(error_of([](const V& x) { return -x; }, shape) <= gradient_tolerance);
    CHECK(error_of([](const V& x) { return 2.5 * x; }, shape) <= gradient_tolerance);
  }
}

TEST_CASE("functions of two arrays pass the gradient check", "[ops][gradient]") {
  for (const Shape& shape : {Shape{3, 11}, Shape{5}}) {
    CAPTURE(shape.text());
    CHECK(error_of([](const V& a, const V& b) { return a + b; }, shape, shape) <= gradient_tolerance);
    CHECK(error_of([](const V& a, const V& b) { return a - b; }, shape, shape) <= gradient_tolerance);
    CHECK(error_of([](const V& a, const V& b) { return a * b; }, shape, shape) <= gradient_tolerance);
    CHECK(error_of([](const V& a, const V& b) { return a / positive(b); }, shape, shape) <=
          gradient_tolerance);
    CHECK(error_of([](const V& a, const V& b) { return maximum(a, b); }, shape, shape) <= gradient_tolerance);
  }
}

TEST_CASE("a residual sum is that of operator+ to the bit, and passes the gradient check",
          "[ops][gradient]") {
  using bahdanau::detail::residual_sum;
  const Shape shape{3, 11};
  CHECK(error_of([](const V& a, const V& b) { return residual_sum(a, b); }, shape, shape) <=
        gradient_tolerance);
  CHECK(error_of([](const V& a, const V&) { return residual_sum(a, a); }, shape, shape) <=
        gradient_tolerance);
  DoubleTape tape;
  std::vector<double> some(33), others(33);
  for (std::size_t i = 0; i < 33; ++i)
    some[i] = std::sin(static_cast<double>(i)), others[i] = 1 / (1.0 + static_cast<double>(i));
  const V a = tape.leaf(shape, some), b = tape.leaf(shape, others);
  const auto sum = bahdanau::value<2>(residual_sum(a, b)), expected = bahdanau::value<2>(a + b);
  for (std::size_t r = 0; r < 3; ++r)
    for (std::size_t c = 0; c < 11; ++c) CHECK(sum(r, c) == expected(r, c));
}

TEST_CASE("a row that meets every row of an array passes the gradient check", "[ops][gradient]") {
  const Shape a{4, 9};
  for (const Shape& row : {Shape{9}, Shape{1, 9}}) {
    CAPTURE(row.text());
    CHECK(error_of([](const V& x, const V& b) { return x + b; }, a, row) <= gradient_tolerance);
    CHECK(error_of([](const V& x, const V& b) { return x - b; }, a, row) <= gradient_tolerance);
    CHECK(error_of([](const V& x, const V& b) { return x * b; }, a, row) <= gradient_tolerance);
    CHECK(error_of([](const V& x, const V& b) { return x / positive(b); }, a, row) <= gradient_tolerance);
    CHECK(error_of([](const V& x, const V& b) { return maximum(x, b); }, a, row) <= gradient_tolerance);
  }
}

TEST_CASE("a column that meets every column of an array passes the gradient check", "[ops][gradient]") {
  struct Pair {
    Shape a, column;
  };
  for (const auto& [a, column] : {Pair{{4, 19}, {4, 1}}, Pair{{1, 9}, {1, 1}}, Pair{{2, 3, 5}, {2, 3, 1}}}) {
    CAPTURE(a.text());
    CHECK(error_of([](const V& x, const V& b) { return x + b; }, a, column) <= gradient_tolerance);
    CHECK(error_of([](const V& x, const V& b) { return x - b; }, a, column) <= gradient_tolerance);
    CHECK(error_of([](const V& x, const V& b) { return x * b; }, a, column) <= gradient_tolerance);
    CHECK(error_of([](const V& x, const V& b) { return x / positive(b); }, a, column) <= gradient_tolerance);
    CHECK(error_of([](const V& x, const V& b) { return maximum(x, b); }, a, column) <= gradient_tolerance);
  }
  // Rows of length 1: each divided by its own norm
  const auto normed = [](const V& x) { return x / sqrt(sum_columns(x * x)).reshape({x.rows(), 1}); };
  CHECK(error_of(normed, {3, 11}) <= gradient_tolerance);
}

TEST_CASE("an array used several times receives the sum of its gradients", "[ops][gradient]") {
  CHECK(error_of([](const V& x) { return x * x; }, {3, 5}) <= gradient_tolerance);
  CHECK(error_of([](const V& x) { return x + x * tanh(x) - x; }, {3, 5}) <= gradient_tolerance);
  // A row of the array that it meets
  CHECK(error_of([](const V& x) { return x * x.row_range(1, 1); }, {3, 5}) <= gradient_tolerance);
}

TEST_CASE("sums pass the gradient check", "[ops][gradient]") {
  for (const Shape& shape : {Shape{4, 11}, Shape{6}, Shape{2, 3, 4}}) {
    CAPTURE(shape.text());
    CHECK(error_of([](const V& x) { return sum(tanh(x)); }, shape) <= gradient_tolerance);
    CHECK(error_of([](const V& x) { return mean(tanh(x)); }, shape) <= gradient_tolerance);
    CHECK(error_of([](const V& x) { return sum_rows(tanh(x)); }, shape) <= gradient_tolerance);
    CHECK(error_of([](const V& x) { return sum_columns(tanh(x)); }, shape) <= gradient_tolerance);
  }
}

TEST_CASE("an array longer than one launch's row passes the gradient check", "[ops][gradient]") {
  // Flat arrays are cut into rows of 4096: the check looks at both sides of the cut.
  constexpr std::size_t n = 4096 + 3;
  DoubleTape tape(DoubleTape::Mode::checked);
  std::vector<double> host(n);
  for (std::size_t i = 0; i < n; ++i) host[i] = 0.001 * static_cast<double>(i) - 2;
  const V x = tape.leaf({n}, host);
  tape.backward(sum(tanh(x)));
  for (std::size_t i : {0UL, 1UL, 4095UL, 4096UL, n - 1}) {
    const double t = std::tanh(host[i]);
    CHECK(gradient<1>(x.reshape({x.size()}))(i) == Approx(1 - t * t).epsilon(1e-12));
  }
}
