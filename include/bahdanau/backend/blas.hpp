// The one door to BLAS: row-major matrix products through xtensor-blas's bindings to OpenBLAS.
// `Xtensor` comes here only for factors other than 1, `Thrust` without CUDA for all its products. Before
// `Xtensor` does, OpenBLAS is set to one thread, for good, unless told otherwise: threads are ours.
#pragma once

#include <algorithm>
#include <atomic>
#include <complex>  // which the bindings use and do not include
#include <cstddef>
#include <limits>
#include <string>

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
#include <bahdanau/core/fork.hpp>

#ifndef HAVE_CBLAS
#error "bahdanau: matrix products need a CBLAS; do not define XTENSOR_USE_FLENS_BLAS"
#endif

extern "C" {
char* openblas_get_config();
char* openblas_get_corename();
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
  // OpenBLAS has a lock around its buffers, which a fork in the middle of a product would leave locked.
  const bahdanau::detail::Forks::Postponed postponed;
  const auto op = [](Transpose t) { return t == Transpose::yes ? cxxblas::Trans : cxxblas::NoTrans; };
  using detail::extent;
  if (m == 1 && k > 0) {  // OpenBLAS's gemm would lay all of B out for this one row
    const bool transposed = transpose_b == Transpose::yes;
    if (beta == T(0)) std::fill_n(c, n, T(0));  // which may hold anything: 0 · NaN is no 0
    cxxblas::gemv<int>(cxxblas::RowMajor, op(transposed ? Transpose::no : Transpose::yes),
                       extent(transposed ? n : k), extent(transposed ? k : n), alpha, b, extent(ldb), a,
                       transpose_a == Transpose::yes ? extent(lda) : 1, beta == T(0) ? T(1) : beta, c, 1);
    return;
  }
  cxxblas::gemm<int>(cxxblas::RowMajor, op(transpose_a), op(transpose_b), extent(m), extent(n), extent(k),
                     alpha, a, extent(lda), b, extent(ldb), beta, c, extent(ldc));
}

namespace detail {

/// Whose threads divide a product, which is decided once in a process. Without a lock, which a fork could
/// leave locked: setting one thread twice does no harm.
class ThreadChoice {
 public:
  /// Sets OpenBLAS to one thread, unless that was done or somebody wants to keep its threads.
  static void settle() {
    if (choice_.load(std::memory_order_acquire) != Choice::open) return;
    openblas_set_num_threads(1);
    Choice open = Choice::open;
    choice_.compare_exchange_strong(open, Choice::one);
  }
  static void keep() {
    Choice open = Choice::open;
    if (!choice_.compare_exchange_strong(open, Choice::kept) && open == Choice::one)
      fail("blas::keep_threads", "a call before OpenBLAS was set to one thread", "one after it",
           "call it first of all, in main");
  }

 private:
  enum class Choice { open, one, kept };
  inline static std::atomic<Choice> choice_{Choice::open};
};

}  // namespace detail

/// The processor that OpenBLAS has chosen its kernels for. It knows those that are older than itself, and
/// takes its oldest kernels ("Prescott") for others.
inline std::string core() { return openblas_get_corename(); }

/// OpenBLAS's version, "0.3.21" say, and whether it chooses kernels when a program starts.
inline std::string version() {
  const std::string config = openblas_get_config();  // "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ..."
  const std::size_t begin = config.find(' ') + 1;    // 0 where it has no spaces
  return config.substr(begin, config.find(' ', begin) - begin);
}
inline bool chooses_core() {
  return std::string(openblas_get_config()).find(" DYNAMIC_ARCH") != std::string::npos;
}

/// Sets OpenBLAS to one thread for the rest of the process; the first product of `Xtensor` that needs
/// OpenBLAS, one with a factor other than 1, does it anyway.
///
/// Our own threads divide the work: over shards, groups of sentences, and columns of large weights. OpenBLAS
/// has one setting for the whole process and none for a thread, and threads of its own under several of ours
/// wait for each other: calls that run side by side take twenty times as long.
inline void use_one_thread() { detail::ThreadChoice::settle(); }

/// What did so in 0.1 for as long as it lived.
struct [[deprecated("leave it out, or call blas::use_one_thread()")]] SingleThreaded {
  SingleThreaded() { use_one_thread(); }
  SingleThreaded(const SingleThreaded&) = delete;
  SingleThreaded& operator=(const SingleThreaded&) = delete;
};

/// Leaves OpenBLAS's threads as the program has them, for one that needs them for products of its own; to be
/// called before `use_one_thread`, and so before the first `Xtensor::gemm` with a factor other than 1. Calls
/// from several threads are slow then, and bits may change with that setting. Throws after it.
inline void keep_threads() { detail::ThreadChoice::keep(); }

}  // namespace bahdanau::blas
