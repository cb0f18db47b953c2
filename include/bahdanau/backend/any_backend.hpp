// A backend that is declared and nowhere defined: concepts ask with it whether a policy has its functions.
// Nothing runs on it, so a policy can be asserted where no real backend is included.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include <bahdanau/backend/backend.hpp>

namespace bahdanau {

/// Stands for any backend in the concepts `Cell`, `Score`, `Encoder`, `Decoder` and `Readout`.
struct AnyBackend {
  using Scalar = double;
  static constexpr std::string_view name = "AnyBackend";
  template <class U>
  using Storage = std::vector<U>;

  template <class U>
  static void upload(const U* host, std::size_t n, U* device);
  template <class U>
  static void download(const U* device, std::size_t n, U* host);
  template <class U>
  static void copy(const U* from, std::size_t n, U* to);
  template <class U>
  static void fill(U* data, std::size_t n, U value);
  static void gemm(Transpose transpose_a, Transpose transpose_b, std::size_t m, std::size_t n, std::size_t k,
                   Scalar alpha, const Scalar* a, std::size_t lda, const Scalar* b, std::size_t ldb,
                   Scalar beta, Scalar* c, std::size_t ldc);
  static void gemm_batched(Transpose transpose_a, Transpose transpose_b, std::size_t m, std::size_t n,
                           std::size_t k, Scalar alpha, const Scalar* a, std::size_t lda,
                           std::size_t stride_a, const Scalar* b, std::size_t ldb, std::size_t stride_b,
                           Scalar beta, Scalar* c, std::size_t ldc, std::size_t stride_c, std::size_t count);
  static void add_product_of_rows(std::size_t m, std::size_t n, std::size_t k, const Scalar* a,
                                  std::size_t lda, const Scalar* b, std::size_t ldb, const Index* rows,
                                  Scalar* c, std::size_t ldc);
  template <class Kernel>
  static void for_rows(std::size_t rows, Kernel kernel);
  static void column_sum(std::size_t rows, std::size_t cols, const Scalar* x, std::size_t stride,
                         Scalar* out);
  static void scatter_add(std::size_t rows, std::size_t cols, const Scalar* x, const Index* index,
                          Scalar* out);
  template <class F>
  static void tabulate(std::size_t rows, std::size_t cols, F f, Scalar* out);
  static double sum(std::size_t n, const Scalar* x);
  static double sum_of_squares(std::size_t n, const Scalar* x);
};

static_assert(Backend<AnyBackend>);

}  // namespace bahdanau
