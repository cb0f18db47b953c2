// Products with weights that were laid out before, for the code above the backends: whether a backend has
// such products is asked here, when the program runs, and nowhere else.
#pragma once

#include <cstddef>

#include <bahdanau/backend/backend.hpp>
#include <bahdanau/core/error.hpp>

namespace bahdanau::detail {

/// What a `PackingBackend` has; for others `packs()` is false, and nothing else may be called.
template <Backend B>
struct PackedProducts {
  using T = typename B::Scalar;

  static bool packs() {
    if constexpr (PackingBackend<B>)
      return B::packs();
    else
      return false;
  }
  static std::size_t columns() {
    if constexpr (PackingBackend<B>)
      return B::packed_columns;
    else
      refuse();
  }
  static std::size_t size(std::size_t k, std::size_t n) {
    if constexpr (PackingBackend<B>)
      return B::packed_size(k, n);
    else
      refuse();
  }
  static void pack(Transpose op, std::size_t k, std::size_t n, const T* b, std::size_t ldb, T* packed) {
    if constexpr (PackingBackend<B>)
      B::pack(op, k, n, b, ldb, packed);
    else
      refuse();
  }
  /// C = A B + addend, B packed.
  static void multiply(std::size_t m, std::size_t n, std::size_t k, const T* a, std::size_t lda,
                       const T* packed, const T* addend, std::size_t stride, T* c, std::size_t ldc) {
    if constexpr (PackingBackend<B>)
      B::gemm_packed(m, n, k, a, lda, packed, addend, stride, c, ldc);
    else
      refuse();
  }

 private:
  [[noreturn]] static void refuse() { fail("a packed product", "a backend that packs", B::name); }
};

}  // namespace bahdanau::detail
