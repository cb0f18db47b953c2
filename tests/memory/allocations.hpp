// Counts what this program asks the C library's allocator for, aligned or not.
// Only where that allocator can be wrapped: with glibc, and not under a sanitizer, which wraps it itself.
#pragma once

#include <atomic>
#include <cstddef>

namespace bahdanau::test {

inline std::atomic<std::size_t> allocations{0};

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
inline constexpr bool counts_allocations = true;
#else
inline constexpr bool counts_allocations = false;
#endif

/// How many allocations f makes.
template <class F>
std::size_t allocations_of(F f) {
  const std::size_t before = allocations;
  f();
  return allocations - before;
}

}  // namespace bahdanau::test
