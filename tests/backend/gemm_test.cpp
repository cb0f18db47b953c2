// Matrix products against three loops: both transposes, strides, alpha and beta, one product and many.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "support/backends.hpp"
#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/numbers.hpp"

using bahdanau::Transpose;
using bahdanau::test::largest_difference;
using bahdanau::test::numbers;
using bahdanau::test::OnDevice;
using bahdanau::test::TestBackend;

namespace {

/// Element (i, j) of op(A).
template <class T>
double element(const T* a, Transpose transpose, std::size_t stride, std::size_t i, std::size_t j) {
  return static_cast<double>(transpose == Transpose::yes ? a[j * stride + i] : a[i * stride + j]);
}

struct Extents {
  std::size_t m, n, k;
};

template <class T>
void reference(Transpose ta, Transpose tb, Extents e, T alpha, const T* a, std::size_t lda, const T* b,
               std::size_t ldb, T beta, T* c, std::size_t ldc) {
  for (std::size_t i = 0; i < e.m; ++i)
    for (std::size_t j = 0; j < e.n; ++j) {
      double total = 0;
      for (std::size_t p = 0; p < e.k; ++p) total += element(a, ta, lda, i, p) * element(b, tb, ldb, p, j);
      T& out = c[i * ldc + j];
      const double before = beta == 0 ? 0 : static_cast<double>(beta) * static_cast<double>(out);
      out = static_cast<T>(static_cast<double>(alpha) * total + before);
    }
}

/// The backend's product of arrays on the host.
template <class T>
void product(Transpose ta, Transpose tb, Extents e, T alpha, const std::vector<T>& a, std::size_t lda,
             const std::vector<T>& b, std::size_t ldb, T beta, std::vector<T>& c, std::size_t ldc) {
  using B = TestBackend<T>;
  const OnDevice<B> on_a(a), on_b(b);
  OnDevice<B> on_c(c);
  B::gemm(ta, tb, e.m, e.n, e.k, alpha, on_a.data(), lda, on_b.data(), ldb, beta, on_c.data(), ldc);
  c = on_c.host();
}

template <class T>
constexpr double tolerance = std::same_as<T, float> ? 1e-5 : 1e-13;

}  // namespace

TEMPLATE_TEST_CASE("a product is the sum over the middle index, however it is stored", "[gemm]", float,
                   double) {
  using T = TestType;
  const Transpose ta = GENERATE(Transpose::no, Transpose::yes), tb = GENERATE(Transpose::no, Transpose::yes);
  const std::size_t gap = GENERATE(as<std::size_t>{}, 0, 3);  // columns between one row and the next
  for (const Extents e : {Extents{1, 1, 1}, {3, 5, 4}, {1, 7, 2}, {8, 1, 9}, {33, 17, 20}})
    for (const double alpha : {1.0, -0.5})
      for (const double beta : {0.0, 1.0, 0.25}) {
        const std::size_t lda = (ta == Transpose::yes ? e.m : e.k) + gap;
        const std::size_t ldb = (tb == Transpose::yes ? e.k : e.n) + gap, ldc = e.n + gap;
        const std::vector<T> a = numbers<T>(std::max(e.m, e.k) * lda, 1);
        const std::vector<T> b = numbers<T>(std::max(e.n, e.k) * ldb, 2);
        std::vector<T> c = numbers<T>(e.m * ldc, 3), expected = c;  // gaps must stay as they are
        product(ta, tb, e, static_cast<T>(alpha), a, lda, b, ldb, static_cast<T>(beta), c, ldc);
        reference(ta, tb, e, static_cast<T>(alpha), a.data(), lda, b.data(), ldb, static_cast<T>(beta),
                  expected.data(), ldc);
        CAPTURE(e.m, e.n, e.k, alpha, beta, gap);
        CHECK(largest_difference(c.data(), expected.data(), c.size()) < tolerance<T>);
      }
}

TEMPLATE_TEST_CASE("with beta 0 a product does not read its result", "[gemm]", float, double) {
  using T = TestType;
  // New arrays on a tape are uninitialised: they may well hold NaN.
  const std::vector<T> a = {1, 2, 3, 4}, b = {5, 6, 7, 8};
  std::vector<T> c(4, std::numeric_limits<T>::quiet_NaN());
  product(Transpose::no, Transpose::no, {2, 2, 2}, T(1), a, 2, b, 2, T(0), c, 2);
  CHECK(c == std::vector<T>{19, 22, 43, 50});
}

TEMPLATE_TEST_CASE("a product of nothing leaves its result alone", "[gemm]", float, double) {
  using T = TestType;
  const std::vector<T> a(4, 1), b(4, 1);
  std::vector<T> c(4, 9);
  product(Transpose::no, Transpose::no, {0, 2, 2}, T(1), a, 2, b, 2, T(0), c, 2);
  product(Transpose::no, Transpose::yes, {2, 0, 2}, T(1), a, 2, b, 2, T(0), c, 1);
  CHECK(c == std::vector<T>(4, 9));
}

TEMPLATE_TEST_CASE("a product over an empty middle index is beta times the result", "[gemm]", float, double) {
  using T = TestType;
  const std::vector<T> a(4, 1), b(4, 1);
  std::vector<T> c(4, 8);
  product(Transpose::no, Transpose::no, {2, 2, 0}, T(1), a, 0, b, 2, T(0.5), c, 2);
  CHECK(c == std::vector<T>(4, 4));
  product(Transpose::no, Transpose::yes, {2, 2, 0}, T(1), a, 0, b, 0, T(0), c, 2);
  CHECK(c == std::vector<T>(4, 0));
}

TEMPLATE_TEST_CASE("a batched product is one product for each pair", "[gemm]", float, double) {
  using T = TestType;
  const Transpose ta = GENERATE(Transpose::no, Transpose::yes), tb = GENERATE(Transpose::no, Transpose::yes);
  constexpr Extents e{3, 4, 5};
  constexpr std::size_t count = 6, stride_a = 16, stride_b = 22, stride_c = 13;  // with gaps
  const std::vector<T> a = numbers<T>(count * stride_a, 1), b = numbers<T>(count * stride_b, 2);
  std::vector<T> c = numbers<T>(count * stride_c, 3), expected = c;
  const std::size_t lda = ta == Transpose::yes ? e.m : e.k, ldb = tb == Transpose::yes ? e.k : e.n;
  using B = TestBackend<T>;
  const OnDevice<B> on_a(a), on_b(b);
  OnDevice<B> on_c(c);
  B::gemm_batched(ta, tb, e.m, e.n, e.k, 2, on_a.data(), lda, stride_a, on_b.data(), ldb, stride_b, T(0.5),
                  on_c.data(), e.n, stride_c, count);
  c = on_c.host();
  for (std::size_t i = 0; i < count; ++i)
    reference(ta, tb, e, T(2), a.data() + i * stride_a, lda, b.data() + i * stride_b, ldb, T(0.5),
              expected.data() + i * stride_c, e.n);
  CHECK(largest_difference(c.data(), expected.data(), c.size()) < tolerance<T>);
}
