// Products with a packed matrix: the same numbers as any product, and bits that depend on the row alone.
#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <limits>
#include <vector>

#include <bahdanau/backend/xtensor.hpp>

#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/numbers.hpp"

using bahdanau::Transpose;
using bahdanau::test::largest_difference;
using bahdanau::test::numbers;

namespace {

template <class T>
std::vector<T> packed(Transpose op, std::size_t k, std::size_t n, const std::vector<T>& b, std::size_t ldb) {
  using Panels = bahdanau::detail::PanelProduct<T>;
  std::vector<T> out(Panels::size(k, n), T(9));  // what is not written shows
  Panels::pack(op, k, n, b.data(), ldb, out.data());
  return out;
}

}  // namespace

TEMPLATE_TEST_CASE("a product with a packed matrix is the plain product", "[panels]", float, double) {
  using T = TestType;
  using Panels = bahdanau::detail::PanelProduct<T>;
  const Transpose op = GENERATE(Transpose::no, Transpose::yes);
  // tails of every kind, and a depth of more than one block
  for (const auto& [m, n, k] : std::vector<std::array<std::size_t, 3>>{
           {1, 1, 1}, {3, 5, 4}, {8, 48, 7}, {9, 49, 16}, {17, 100, 33}, {5, 31, 600}, {300, 20, 12}}) {
    const std::size_t ldb = (op == Transpose::yes ? k : n) + 3, ldc = n + 2;
    const std::vector<T> a = numbers<T>(m * k, 1), b = numbers<T>(std::max(n, k) * ldb, 2);
    const std::vector<T> before = numbers<T>(m * ldc, 3), bias = numbers<T>(n, 4);
    const std::vector<T> panels = packed(op, k, n, b, ldb);
    for (const int what : {0, 1, 2}) {
      std::vector<T> c = before, expected = before;  // gaps must stay as they are
      for (std::size_t i = 0; i < m; ++i)
        for (std::size_t j = 0; j < n; ++j) {
          double total = what == 0   ? 0
                         : what == 1 ? static_cast<double>(bias[j])
                                     : static_cast<double>(before[i * ldc + j]);
          for (std::size_t p = 0; p < k; ++p)
            total += static_cast<double>(a[i * k + p]) *
                     static_cast<double>(op == Transpose::yes ? b[j * ldb + p] : b[p * ldb + j]);
          expected[i * ldc + j] = static_cast<T>(total);
        }
      Panels::multiply(m, n, k, {a.data(), k}, panels.data(),
                       {what == 0   ? nullptr
                        : what == 1 ? bias.data()
                                    : c.data(),
                        what == 2 ? ldc : 0},
                       c.data(), ldc);
      CAPTURE(m, n, k, what);
      CHECK(largest_difference(c.data(), expected.data(), c.size()) <
            (std::same_as<T, float> ? 5e-5 : 1e-12));
    }
  }
}

TEMPLATE_TEST_CASE("a row of a packed product has the same bits in any company", "[panels]", float, double) {
  using T = TestType;
  using Panels = bahdanau::detail::PanelProduct<T>;
  const std::size_t m = 37, n = 101, k = 530;
  const std::vector<T> a = numbers<T>(m * k, 1);
  const std::vector<T> panels = packed(Transpose::no, k, n, numbers<T>(k * n, 2), n);
  std::vector<T> all(m * n), alone(n);
  Panels::multiply(m, n, k, {a.data(), k}, panels.data(), {}, all.data(), n);
  for (std::size_t row = 0; row < m; ++row) {
    Panels::multiply(1, n, k, {a.data() + row * k, k}, panels.data(), {}, alone.data(), n);
    CHECK(std::equal(alone.begin(), alone.end(), all.begin() + static_cast<std::ptrdiff_t>(row * n)));
  }
}

TEMPLATE_TEST_CASE("a product block by block is the plain product", "[panels]", float, double) {
  using T = TestType;
  using Panels = bahdanau::detail::PanelProduct<T>;
  const Transpose op_a = GENERATE(Transpose::no, Transpose::yes);
  const Transpose op_b = GENERATE(Transpose::no, Transpose::yes);
  // more than one block of rows, of columns and of the depth, and tails of each
  for (const auto& [m, n, k] : std::vector<std::array<std::size_t, 3>>{
           {1, 1, 1}, {8, 48, 16}, {70, 33, 25}, {67, 49, 530}, {33, 600, 20}, {129, 24, 7}}) {
    const auto at = [](Transpose op, std::size_t stride, std::size_t row, std::size_t column) {
      return op == Transpose::yes ? column * stride + row : row * stride + column;
    };
    const std::size_t lda = (op_a == Transpose::yes ? m : k) + 1, ldb = (op_b == Transpose::yes ? k : n) + 3;
    const std::size_t ldc = n + 2;
    const std::vector<T> a = numbers<T>(std::max(m, k) * lda, 1), b = numbers<T>(std::max(n, k) * ldb, 2);
    const std::vector<T> before = numbers<T>(m * ldc, 3);
    for (const bool onto : {false, true}) {
      std::vector<T> c = before, expected = before;  // gaps must stay as they are
      for (std::size_t i = 0; i < m; ++i)
        for (std::size_t j = 0; j < n; ++j) {
          double total = onto ? static_cast<double>(before[i * ldc + j]) : 0;
          for (std::size_t p = 0; p < k; ++p)
            total +=
                static_cast<double>(a[at(op_a, lda, i, p)]) * static_cast<double>(b[at(op_b, ldb, p, j)]);
          expected[i * ldc + j] = static_cast<T>(total);
        }
      bahdanau::detail::BlockProduct<T, Panels>::multiply(op_a, op_b, m, n, k, a.data(), lda, b.data(), ldb,
                                                          {onto ? c.data() : nullptr, ldc}, c.data(), ldc);
      CAPTURE(m, n, k, onto);
      // k roundings of sums of normal numbers, most of them far smaller
      const double rounding = 4 * static_cast<double>(std::numeric_limits<T>::epsilon());
      CHECK(largest_difference(c.data(), expected.data(), c.size()) < static_cast<double>(k + 1) * rounding);
    }
  }
}

TEMPLATE_TEST_CASE("a square of numbers is turned in registers", "[panels]", float, double) {
  using Vector = xsimd::batch<TestType>;
  constexpr std::size_t size = Vector::size;
  Vector rows[size];
  alignas(64) TestType row[size];
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < size; ++j) row[j] = static_cast<TestType>(i * size + j);
    rows[i] = Vector::load_aligned(row);
  }
  bahdanau::detail::SquareTranspose<Vector>::run(rows);
  for (std::size_t i = 0; i < size; ++i) {
    rows[i].store_aligned(row);
    for (std::size_t j = 0; j < size; ++j) CHECK(row[j] == static_cast<TestType>(j * size + i));
  }
}
