// The one door to BLAS: row-major matrix products through xtensor-blas's bindings to OpenBLAS.
// Threads belong to the caller: while a `SingleThreaded` lives, BLAS keeps to the calling thread.
#pragma once

#include <algorithm>
#include <complex>  // which the bindings use and do not include
#include <cstddef>
#include <limits>
#include <mutex>
#include <type_traits>

// The order matters: the configuration says that there is a CBLAS, without it the bindings multiply by hand.
// Two products of the bindings' many: all of them would take half a second to compile.
// clang-format off
#include <xtensor-blas/xblas_config.hpp>
#include <xflens/cxxblas/drivers/drivers.h>
#include <xflens/cxxblas/typedefs.h>
#include <xflens/cxxblas/level2/gemv.h>
#include <xflens/cxxblas/level3/gemm.h>
#include <xflens/cxxblas/drivers/drivers.tcc>
#include <xflens/cxxblas/level2/gemv.tcc>
#include <xflens/cxxblas/level3/gemm.tcc>
// clang-format on

#include <bahdanau/backend/backend.hpp>
#include <bahdanau/core/error.hpp>

#ifndef HAVE_CBLAS
#error "bahdanau: matrix products need a CBLAS; do not define XTENSOR_USE_FLENS_BLAS"
#endif

extern "C" {
int openblas_get_num_threads();
void openblas_set_num_threads(int count);
}

namespace bahdanau::blas {

namespace detail {

inline int extent(std::size_t value) {
  if (value > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    fail("gemm", "extents below 2^31", bahdanau::detail::text(value), "use smaller batches");
  return static_cast<int>(value);
}

}  // namespace detail

/// `C = alpha op(A) op(B) + beta C`: op(A) [m, k], op(B) [k, n], C [m, n]; ld is the stride between rows.
template <class T>
void gemm(Transpose transpose_a, Transpose transpose_b, std::size_t m, std::size_t n, std::size_t k, T alpha,
          const T* a, std::size_t lda, const T* b, std::size_t ldb, T beta, T* c, std::size_t ldc) {
  if (m == 0 || n == 0) return;
  const auto op = [](Transpose t) { return t == Transpose::yes ? cxxblas::Trans : cxxblas::NoTrans; };
  using detail::extent;
  if (m == 1 && k > 0) {  // OpenBLAS's gemm would lay all of B out for this one row
    const bool turned = transpose_b == Transpose::yes;
    if (beta == T(0)) std::fill_n(c, n, T(0));  // which may hold anything: 0 · NaN is no 0
    cxxblas::gemv<int>(cxxblas::RowMajor, op(turned ? Transpose::no : Transpose::yes), extent(turned ? n : k),
                       extent(turned ? k : n), alpha, b, extent(ldb), a,
                       transpose_a == Transpose::yes ? extent(lda) : 1, beta == T(0) ? T(1) : beta, c, 1);
    return;
  }
  cxxblas::gemm<int>(cxxblas::RowMajor, op(transpose_a), op(transpose_b), extent(m), extent(n), extent(k),
                     alpha, a, extent(lda), b, extent(ldb), beta, c, extent(ldc));
}

/// While one of these lives, OpenBLAS runs on the calling thread alone; the caller's setting comes back with
/// the last of them. The setting is process-wide, so overlapping uses are counted.
class SingleThreaded {
 public:
  SingleThreaded() {
    const std::lock_guard lock(mutex_);
    if (users_++ == 0) {
      saved_ = openblas_get_num_threads();
      if (saved_ != 1) openblas_set_num_threads(1);
    }
  }
  ~SingleThreaded() {
    const std::lock_guard lock(mutex_);
    if (--users_ == 0 && saved_ != 1) openblas_set_num_threads(saved_);
  }
  SingleThreaded(const SingleThreaded&) = delete;
  SingleThreaded& operator=(const SingleThreaded&) = delete;

 private:
  inline static std::mutex mutex_;
  inline static int users_ = 0;
  inline static int saved_ = 1;
};

/// The same for work on a backend: one that spreads its calls itself may use all of BLAS's threads.
template <Backend B>
using SingleThreadedOn = std::conditional_t<SpreadingBackend<B>, std::type_identity<B>, SingleThreaded>;

}  // namespace bahdanau::blas
