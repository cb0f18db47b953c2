// The CPU backend: xtensor's containers, and the kernels of kernel/, chosen for the processor that runs them.
// It calls BLAS only for factors other than 1; see backend/blas.hpp.
#pragma once

#if __has_include(<xtensor/containers/xstorage.hpp>)  // xtensor 0.26 and later keep headers in subfolders
#include <xtensor/containers/xstorage.hpp>
#else
#include <xtensor/xstorage.hpp>
#endif

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>

#include <bahdanau/backend/backend.hpp>
#include <bahdanau/backend/blas.hpp>
#include <bahdanau/kernel/aligned.hpp>
#include <bahdanau/kernel/lanes.hpp>
#include <bahdanau/kernel/product.hpp>

namespace bahdanau {

/// The CPU backend with scalars of type `T`; the same type whatever a file is compiled for.
template <class T>
struct Xtensor {
  static_assert(std::same_as<T, float> || std::same_as<T, double>,
                "bahdanau: Xtensor<T> needs T = float or T = double");
  using Scalar = T;
  static constexpr std::string_view name = "Xtensor";
  static constexpr bool host_memory = true;  // pointers are ordinary ones
  /// What rounds otherwise on other processors, beside `instructions()`.
  static std::string kernels() { return blas::core(); }
  static std::string blas_version() { return blas::version(); }

  /// Uninitialised, aligned for the widest vectors whatever the consumer's own xtensor settings are.
  template <class U>
  using Storage = xt::uvector<U, kernel::AlignedAllocator<U>>;

  template <class U>
  static void upload(const U* host, std::size_t n, U* device) {
    std::copy_n(host, n, device);
  }
  template <class U>
  static void download(const U* device, std::size_t n, U* host) {
    std::copy_n(device, n, host);
  }
  static void copy(const T* from, std::size_t n, T* to) { std::copy_n(from, n, to); }
  static void fill(T* out, std::size_t n, T value) { std::fill_n(out, n, value); }

  static void gemm(Transpose transpose_a, Transpose transpose_b, std::size_t m, std::size_t n, std::size_t k,
                   T alpha, const T* a, std::size_t lda, const T* b, std::size_t ldb, T beta, T* c,
                   std::size_t ldc) {
    if (m == 0 || n == 0) return;
    if (alpha == T(1) && (beta == T(0) || beta == T(1)))
      return kernel::Product<T>::multiply(transpose_a, transpose_b, m, n, k, a, lda, b, ldb,
                                          {beta == T(0) ? nullptr : c, ldc}, c, ldc);
    blas::use_one_thread();
    blas::gemm(transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  }
  static void gemm_batched(Transpose transpose_a, Transpose transpose_b, std::size_t m, std::size_t n,
                           std::size_t k, T alpha, const T* a, std::size_t lda, std::size_t stride_a,
                           const T* b, std::size_t ldb, std::size_t stride_b, T beta, T* c, std::size_t ldc,
                           std::size_t stride_c, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      gemm(transpose_a, transpose_b, m, n, k, alpha, a + i * stride_a, lda, b + i * stride_b, ldb, beta,
           c + i * stride_c, ldc);
  }
  static void add_product_of_rows(std::size_t m, std::size_t n, std::size_t k, const T* a, std::size_t lda,
                                  const T* b, std::size_t ldb, const Index* rows, T* c, std::size_t ldc) {
    kernel::Product<T>::add_of_rows(m, n, k, a, lda, b, ldb, rows, c, ldc);
  }

  static constexpr bool packs() { return true; }
  static constexpr std::size_t packed_columns = kernel::Panels<T>::columns;
  static std::size_t packed_size(std::size_t k, std::size_t n) { return kernel::Panels<T>::size(k, n); }
  static void pack(Transpose op, std::size_t k, std::size_t n, const T* b, std::size_t ldb, T* packed) {
    kernel::Panels<T>::pack(op, k, n, b, ldb, packed);
  }
  static void gemm_packed(std::size_t m, std::size_t n, std::size_t k, const T* a, std::size_t lda,
                          const T* packed, const T* addend, std::size_t stride, T* c, std::size_t ldc) {
    kernel::Product<T>::with_panels(m, n, k, a, lda, packed, {addend, stride}, c, ldc);
  }
  static void gemm_once(Transpose op, std::size_t m, std::size_t n, std::size_t k, const T* a,
                        std::size_t lda, const T* b, std::size_t ldb, const T* addend, std::size_t stride,
                        T* c, std::size_t ldc) {
    kernel::Product<T>::multiply(Transpose::no, op, m, n, k, a, lda, b, ldb, {addend, stride}, c, ldc);
  }

  template <class Kernel>
  static void for_rows(std::size_t rows, const Kernel& row_kernel) {
    kernel::dispatch(kernel::RowLoop<T, Kernel>{rows, row_kernel});
  }

  static void column_sum(std::size_t rows, std::size_t cols, const T* x, std::size_t stride, T* out) {
    kernel::dispatch(AddRows{rows, cols, x, stride, nullptr, out});
  }
  static void scatter_add(std::size_t rows, std::size_t cols, const T* x, const Index* index, T* out) {
    kernel::dispatch(AddRows{rows, cols, x, cols, index, out});
  }

  template <class F>
  static void tabulate(std::size_t rows, std::size_t cols, F f, T* out) {
    for (std::size_t row = 0; row < rows; ++row)
      for (std::size_t c = 0; c < cols; ++c) out[row * cols + c] = static_cast<T>(f(row, c));
  }

  static double sum(std::size_t n, const T* x) {
    double total = 0;
    kernel::dispatch(LongSum<pointwise::Identity, 1>{n, x, total});
    return total;
  }
  static double sum_of_squares(std::size_t n, const T* x) {
    double total = 0;
    kernel::dispatch(LongSum<pointwise::Times, 2>{n, x, total});
    return total;
  }

 private:
  /// Adds row r of x to row index[r] of out, or to out itself.
  struct AddRows {
    std::size_t rows, cols;
    const T* x;
    std::size_t stride;
    const Index* index;
    T* out;
    template <class Level>
    void operator()(Level) const {
      for (std::size_t row = 0; row < rows; ++row)
        kernel::RowLanes<T, Level>{}.map(
            cols, pointwise::Identity{},
            Add<T>{out + (index ? static_cast<std::size_t>(index[row]) * cols : 0)}, x + row * stride);
    }
  };

  /// Σ f(x, ...), x as often as f takes it. In blocks whose totals are added in double: float would lose
  /// digits over millions of elements.
  template <class F, std::size_t Inputs>
  struct LongSum {
    std::size_t n;
    const T* x;
    double& total;
    template <class Level>
    void operator()(Level) const {
      constexpr std::size_t block = 1024;
      const kernel::RowLanes<T, Level> lanes;
      double sum = 0;
      for (std::size_t begin = 0; begin < n; begin += block) {
        const T* from = x + begin;
        if constexpr (Inputs == 1)
          sum += static_cast<double>(lanes.sum(std::min(block, n - begin), F{}, from));
        else
          sum += static_cast<double>(lanes.sum(std::min(block, n - begin), F{}, from, from));
      }
      total = sum;
    }
  };
};

static_assert(PackingBackend<Xtensor<float>> && PackingBackend<Xtensor<double>>);

}  // namespace bahdanau
