// A small square of numbers turned over its diagonal within registers: how packing reads rows and writes
// columns, a vector at a time.
#pragma once

#include <cstddef>
#include <utility>

#include <bahdanau/backend/simd.hpp>

namespace bahdanau::detail {

#if defined(__has_builtin) && !defined(__CUDACC__)  // nvcc garbles the pack of indices
#if __has_builtin(__builtin_shufflevector)
#define BAHDANAU_HAS_SHUFFLE 1
#endif
#endif

/// Turns rows [N, N], one vector each.
template <class Vector>
class SquareTranspose {
  static constexpr std::size_t size = Vector::size;

 public:
#ifdef BAHDANAU_HAS_SHUFFLE
  // xsimd's own zips cross the 128-bit lanes of a vector or not, depending on its version.
  static void run(Vector (&rows)[size]) {
    for (std::size_t stage = 1; stage < size; stage *= 2) {
      Vector zipped[size];
      for (std::size_t i = 0; i < size / 2; ++i) {
        zipped[2 * i] = zip<0>(rows[i].data, rows[i + size / 2].data, std::make_index_sequence<size>{});
        zipped[2 * i + 1] =
            zip<size / 2>(rows[i].data, rows[i + size / 2].data, std::make_index_sequence<size>{});
      }
      for (std::size_t i = 0; i < size; ++i) rows[i] = zipped[i];
    }
  }

 private:
  /// Elements First, First + 1, ... of a and b in turns.
  template <std::size_t First, class Register, std::size_t... I>
  static Vector zip(const Register& a, const Register& b, std::index_sequence<I...>) {
    return Vector(Register(__builtin_shufflevector(a, b, static_cast<int>(First + I / 2 + I % 2 * size)...)));
  }
#else
  static void run(Vector (&rows)[size]) {
    alignas(64) typename Vector::value_type numbers[size][size];
    for (std::size_t i = 0; i < size; ++i) rows[i].store_aligned(numbers[i]);
    for (std::size_t i = 0; i < size; ++i)
      for (std::size_t j = 0; j < i; ++j) std::swap(numbers[i][j], numbers[j][i]);
    for (std::size_t i = 0; i < size; ++i) rows[i] = Vector::load_aligned(numbers[i]);
  }
#endif
};
#undef BAHDANAU_HAS_SHUFFLE

}  // namespace bahdanau::detail
