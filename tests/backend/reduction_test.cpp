// Reductions of a whole array: accurate over a million elements.
#include <cstddef>
#include <vector>

#include <bahdanau/core/random.hpp>

#include "support/backends.hpp"
#include "support/catch.hpp"

using bahdanau::random::Key;
using bahdanau::test::OnDevice;
using bahdanau::test::TestBackend;

TEMPLATE_TEST_CASE("a sum of a million elements is accurate to 1e-6", "[reduction]", float, double) {
  using T = TestType;
  // Added one by one in float, these would be off by more than a percent.
  for (const std::size_t n : {std::size_t{1'000'000}, std::size_t{1'000'003}}) {
    std::vector<T> x(n);
    double sum = 0, squares = 0;
    for (std::size_t i = 0; i < n; ++i) {
      x[i] = static_cast<T>(0.5 + Key{3}.uniform(i));
      sum += static_cast<double>(x[i]);
      squares += static_cast<double>(x[i]) * static_cast<double>(x[i]);
    }
    const OnDevice<TestBackend<T>> device(x);
    CHECK(TestBackend<T>::sum(n, device.data()) == Approx(sum).epsilon(1e-6));
    CHECK(TestBackend<T>::sum_of_squares(n, device.data()) == Approx(squares).epsilon(1e-6));
  }
}

TEMPLATE_TEST_CASE("a sum of few elements is theirs alone", "[reduction]", float, double) {
  using T = TestType;
  const OnDevice<TestBackend<T>> x({1, -2, 3, T(0.5), 100});
  CHECK(TestBackend<T>::sum(0, x.data()) == 0);
  CHECK(TestBackend<T>::sum(4, x.data()) == 2.5);
  CHECK(TestBackend<T>::sum_of_squares(0, x.data()) == 0);
  CHECK(TestBackend<T>::sum_of_squares(4, x.data()) == 14.25);
}

TEMPLATE_TEST_CASE("the sum of the rows is added to what was there", "[reduction]", float, double) {
  using T = TestType;
  for (const std::size_t cols : {1U, 3U, 16U, 37U}) {
    constexpr std::size_t rows = 5;
    std::vector<T> x(rows * cols);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<T>(i);  // x[r, c] = r cols + c
    const OnDevice<TestBackend<T>> device(x);
    OnDevice<TestBackend<T>> sums(std::vector<T>(cols + 1, 10));
    TestBackend<T>::column_sum(rows, cols, device.data(), cols, sums.data());
    std::vector<T> out = sums.host();
    for (std::size_t c = 0; c < cols; ++c) CHECK(out[c] == static_cast<T>(10 + 10 * cols + 5 * c));
    CHECK(out[cols] == 10);
    TestBackend<T>::column_sum(0, cols, device.data(), cols, sums.data());
    out = sums.host();
    CHECK(out[0] == static_cast<T>(10 + 10 * cols));
    // the first column alone: rows are further apart than they are wide
    TestBackend<T>::column_sum(rows, 1, device.data(), cols, sums.data());
    CHECK(sums.host()[0] == static_cast<T>(10 + 20 * cols));
  }
}
