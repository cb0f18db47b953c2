// A small square of numbers transposed within registers: how packing reads rows and writes columns, a vector
// at a time.
#pragma once

#include <cstddef>
#include <utility>

#include <bahdanau/kernel/vector.hpp>

namespace bahdanau::kernel {

#if defined(__has_builtin) && !defined(__CUDACC__)  // nvcc garbles the pack of indices
#if __has_builtin(__builtin_shufflevector)
#define BAHDANAU_HAS_SHUFFLE 1
#endif
#endif

/// Transposes rows [N, N], one vector each.
template <class Vector>
class SquareTranspose {
  static constexpr std::size_t size = Vector::size;

 public:
#ifdef BAHDANAU_HAS_SHUFFLE
  [[gnu::always_inline]] static void run(Vector (&rows)[size]) {
    for (std::size_t stage = 1; stage < size; stage *= 2) {
      Vector zipped[size];
      for (std::size_t i = 0; i < size / 2; ++i) {
        zip<0>(zipped[2 * i], rows[i], rows[i + size / 2], std::make_index_sequence<size>{});
        zip<size / 2>(zipped[2 * i + 1], rows[i], rows[i + size / 2], std::make_index_sequence<size>{});
      }
      for (std::size_t i = 0; i < size; ++i) rows[i] = zipped[i];
    }
  }

 private:
  /// Elements First, First + 1, ... of a and b in turns.
  template <std::size_t First, std::size_t... I>
  [[gnu::always_inline]] static void zip(Vector& out, const Vector& a, const Vector& b,
                                         std::index_sequence<I...>) {
    out.raw = __builtin_shufflevector(a.raw, b.raw, static_cast<int>(First + I / 2 + I % 2 * size)...);
  }
#else
  [[gnu::always_inline]] static void run(Vector (&rows)[size]) {
    alignas(64) typename Vector::Scalar numbers[size][size];
    for (std::size_t i = 0; i < size; ++i) rows[i].store(numbers[i]);
    for (std::size_t i = 0; i < size; ++i)
      for (std::size_t j = 0; j < i; ++j) std::swap(numbers[i][j], numbers[j][i]);
    for (std::size_t i = 0; i < size; ++i) rows[i] = Vector::load(numbers[i]);
  }
#endif
};
#undef BAHDANAU_HAS_SHUFFLE

}  // namespace bahdanau::kernel
