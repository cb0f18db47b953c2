// Products with a packed matrix: the same numbers as any product, and bits that depend on the row alone.
#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <limits>
#include <vector>

#include <bahdanau/kernel/product.hpp>

#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/levels.hpp"
#include "support/numbers.hpp"

using bahdanau::Transpose;
using bahdanau::test::largest_difference;
using bahdanau::test::numbers;

namespace {

template <class T>
std::vector<T> packed(Transpose op, std::size_t k, std::size_t n, const std::vector<T>& b, std::size_t ldb) {
  using Panels = bahdanau::kernel::Panels<T>;
  std::vector<T> out(Panels::size(k, n), T(9));  // what is not written shows
  Panels::pack(op, k, n, b.data(), ldb, out.data());
  return out;
}

}  // namespace

TEMPLATE_TEST_CASE("a product with a packed matrix is the plain product", "[kernel][product]", float,
                   double) {
  using T = TestType;
  const bahdanau::test::AtLevel at_level(GENERATE(from_range(bahdanau::test::levels())));
  using Product = bahdanau::kernel::Product<T>;
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
      Product::with_panels(m, n, k, a.data(), k, panels.data(),
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

TEMPLATE_TEST_CASE("a row of a packed product has the same bits in any company", "[kernel][product]", float,
                   double) {
  using T = TestType;
  const bahdanau::test::AtLevel at_level(GENERATE(from_range(bahdanau::test::levels())));
  using Product = bahdanau::kernel::Product<T>;
  const std::size_t m = 37, n = 101, k = 530;
  const std::vector<T> a = numbers<T>(m * k, 1);
  const std::vector<T> panels = packed(Transpose::no, k, n, numbers<T>(k * n, 2), n);
  std::vector<T> all(m * n), alone(n);
  Product::with_panels(m, n, k, a.data(), k, panels.data(), {}, all.data(), n);
  for (std::size_t row = 0; row < m; ++row) {
    Product::with_panels(1, n, k, a.data() + row * k, k, panels.data(), {}, alone.data(), n);
    CHECK(std::equal(alone.begin(), alone.end(), all.begin() + static_cast<std::ptrdiff_t>(row * n)));
  }
}

TEMPLATE_TEST_CASE("a product block by block is the plain product", "[kernel][product]", float, double) {
  using T = TestType;
  const bahdanau::test::AtLevel at_level(GENERATE(from_range(bahdanau::test::levels())));
  using Product = bahdanau::kernel::Product<T>;
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
      Product::multiply(op_a, op_b, m, n, k, a.data(), lda, b.data(), ldb, {onto ? c.data() : nullptr, ldc},
                        c.data(), ldc);
      CAPTURE(m, n, k, onto);
      // k roundings of sums of normal numbers, most of them far smaller
      const double rounding = 4 * static_cast<double>(std::numeric_limits<T>::epsilon());
      CHECK(largest_difference(c.data(), expected.data(), c.size()) < static_cast<double>(k + 1) * rounding);
    }
  }
}

TEMPLATE_TEST_CASE("AVX2 and AVX-512 give the same bits", "[kernel][product][bits]", float, double) {
  using T = TestType;
  const Transpose op_a = GENERATE(Transpose::no, Transpose::yes);
  const Transpose op_b = GENERATE(Transpose::no, Transpose::yes);
  for (const auto& [m, n, k] :
       std::vector<std::array<std::size_t, 3>>{{1, 1, 1}, {5, 97, 513}, {70, 130, 40}, {40, 7, 9}}) {
    std::vector<std::vector<T>> results;
    for (const bahdanau::Instructions level : bahdanau::test::levels()) {
      if (level == bahdanau::Instructions::baseline) continue;  // has no fused instructions
      const bahdanau::test::AtLevel at(level);
      const std::vector<T> a = numbers<T>(m * k, 1), b = numbers<T>(n * k, 2);
      std::vector<T>& c = results.emplace_back(numbers<T>(m * n, 3));
      bahdanau::kernel::Product<T>::multiply(op_a, op_b, m, n, k, a.data(), op_a == Transpose::yes ? m : k,
                                             b.data(), op_b == Transpose::yes ? k : n, {c.data(), n},
                                             c.data(), n);
    }
    for (const auto& other : results) CHECK((other == results[0]));
  }
}
