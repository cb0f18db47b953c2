// c += a b on a register of lanes, fused into one rounding where the instructions have that.
// SSE2 has none: there the product is rounded first, and bits are others than those of AVX2 and AVX-512.
#pragma once

#include <cstddef>
#include <utility>

namespace bahdanau::kernel::detail {

/// Lanes of one register.
template <class T, std::size_t Bytes>
struct Register {
  typedef T type __attribute__((vector_size(Bytes)));
};

/// Whether vectors of so many bytes have fused instructions: SSE2 has none.
#if defined(__aarch64__)
constexpr bool has_fused(std::size_t) { return true; }
#else
constexpr bool has_fused(std::size_t bytes) { return bytes > 16; }
#endif

template <class T, std::size_t Bytes>
[[gnu::always_inline]] inline void multiply_add(typename Register<T, Bytes>::type& c,
                                                const typename Register<T, Bytes>::type& a,
                                                const typename Register<T, Bytes>::type& b) {
#if defined(__NO_INLINE__)
  // Nothing is inlined, so the function around this one is compiled for the plain processor.
  if constexpr (has_fused(Bytes)) {
    for (std::size_t i = 0; i < Bytes / sizeof(T); ++i)
      c[i] = sizeof(T) == 4 ? T(__builtin_fmaf(float(a[i]), float(b[i]), float(c[i])))
                            : T(__builtin_fma(a[i], b[i], c[i]));
    return;
  }
#elif defined(__clang__)
#pragma clang fp contract(on)
#endif
  c = a * b + c;
}

}  // namespace bahdanau::kernel::detail
