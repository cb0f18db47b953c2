// A tile of a product in registers: some rows of A with some columns of B, for each level of instructions.
// Every element is a chain of multiply-adds in the order of k, so its bits depend on its own row and column
// alone.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <bahdanau/kernel/dispatch.hpp>

namespace bahdanau::kernel {

/// C [rows, columns] = A [rows, k] B [k, columns] + addend.
template <class T>
struct Tile {
  std::size_t k;
  const T* a;  // element (row, p) at a[row * a_row + p * a_step]
  std::size_t a_row, a_step;
  const T* b;  // rows `b_stride` apart, and readable up to a whole number of vectors
  std::size_t b_stride;
  const T* prefetch;           // what comes next, or will soon,
  std::size_t prefetch_lines;  // so many cache lines of it
  std::size_t columns;
  const T* addend;  // or null
  std::size_t addend_stride;
  T* c;
  std::size_t c_stride;
};

/// How large the tiles of a level are, and who multiplies one.
template <class T>
struct TileSet {
  std::size_t rows, columns, width;
  void (*run)(std::size_t count, const Tile<T>& tile);  // of up to `rows` rows
};

/// The kernels of one level. A tile stays in registers: 8 x 3 vectors of AVX-512's 32 registers, 4 x 3 of 16.
template <class T, class Level>
class TileKernels {
  using Vector = typename Level::template Vector<T>;
  static constexpr std::size_t width = Vector::size;

 public:
  static constexpr std::size_t rows = Level::bytes == 64 ? 8 : 4, vectors = 3, columns = vectors * width;
  static constexpr TileSet<T> set() { return {rows, columns, width, &run}; }

 private:
  static void run(std::size_t count, const Tile<T>& tile) {
    if (count == rows) return kernel(0, tile.columns)(&tile);
    Tile<T> part = tile;
    while (count > 0) {
      std::size_t which = 0;
      while (heights[which] > count) ++which;
      const std::size_t height = heights[which];
      kernel(which, tile.columns)(&part);
      count -= height;
      part.a += height * part.a_row;
      part.c += height * part.c_stride;
      if (part.addend != nullptr) part.addend += height * part.addend_stride;
      part.prefetch_lines = 0;
    }
  }

  // There are kernels for some numbers of rows, which make up the others; each takes its time to compile.
  static constexpr std::array<std::size_t, 4> heights =
      rows == 8 ? std::array<std::size_t, 4>{8, 4, 2, 1} : std::array<std::size_t, 4>{4, 1, 1, 1};
  static constexpr std::size_t height_count = rows == 8 ? 4 : 2;

  using Kernel = void (*)(const Tile<T>*);
  static Kernel kernel(std::size_t which, std::size_t columns_used) {
    static constexpr auto table = []<std::size_t... I>(std::index_sequence<I...>) {
      return std::array<Kernel, height_count * vectors>{
          &Targeted<Level>::template call<Body<heights[I / vectors], I % vectors + 1>, const Tile<T>*>...};
    }
    (std::make_index_sequence<height_count * vectors>{});
    return table[which * vectors + (columns_used - 1) / width];
  }

  template <std::size_t Count, std::size_t Vectors>
  struct Body {
    [[gnu::always_inline]] void operator()(Level, const Tile<T>* tile) const {
      Vector sums[Count * Vectors];
      for_each<Count * Vectors>([&](auto i) { sums[i] = Vector(T(0)); });
      for_each<Count>([&](auto r) {
        for_each<Vectors>(
            [&](auto v) { __builtin_prefetch(tile->c + r * tile->c_stride + v * width, 1, 3); });
      });
      const std::size_t k = tile->k, a_row = tile->a_row, a_step = tile->a_step, b_stride = tile->b_stride,
                        prefetch_lines = tile->prefetch_lines;
      const T *a = tile->a, *b = tile->b;
      const Vector zeros = Vector::opaque_zeros();
      const char* prefetch = reinterpret_cast<const char*>(tile->prefetch);
      for (std::size_t p = 0; p < k; ++p, a += a_step, b += b_stride) {
        if (p < prefetch_lines) __builtin_prefetch(prefetch + p * 64, 0, 2);  // past the end it does no harm
        // For some processors (-mtune=znver3) g++ fuses no sum that is the only one of its loop.
        if constexpr (Count * Vectors == 1) sums[0] = rounded(sums[0], zeros);
        Vector row[Vectors];
        for_each<Vectors>([&](auto v) { row[v] = Vector::load(b + v * width); });
        for_each<Count>([&](auto r) {
          const Vector x(a[r * a_row]);
          for_each<Vectors>([&](auto v) { sums[r * Vectors + v] = fma(x, row[v], sums[r * Vectors + v]); });
        });
      }
      if (tile->columns == Vectors * width) {
        for_each<Count>([&](auto r) {
          for_each<Vectors>([&](auto v) {
            Vector& sum = sums[r * Vectors + v];
            if (tile->addend != nullptr)
              sum = sum + Vector::load(tile->addend + r * tile->addend_stride + v * width);
            sum.store(tile->c + r * tile->c_stride + v * width);
          });
        });
        return;
      }
      alignas(64) T edge[Count * Vectors * width];
      for_each<Count * Vectors>([&](auto i) { sums[i].store(edge + i * width); });
      for (std::size_t r = 0; r < Count; ++r)
        for (std::size_t c = 0; c < tile->columns; ++c) {
          const T sum = edge[r * Vectors * width + c];
          tile->c[r * tile->c_stride + c] =
              tile->addend != nullptr ? sum + tile->addend[r * tile->addend_stride + c] : sum;
        }
    }

    /// Unrolled, so that the sums are registers and not an array.
    template <std::size_t N, class F>
    [[gnu::always_inline]] static void for_each(F f) {
      [&]<std::size_t... I>(std::index_sequence<I...>) __attribute__((always_inline)) {
        (f(std::integral_constant<std::size_t, I>{}), ...);
      }
      (std::make_index_sequence<N>{});
    }
  };
};

/// The tiles of the level in use.
template <class T>
const TileSet<T>& tiles() {
#if defined(__x86_64__)
  [[maybe_unused]] const Instructions level = instructions();
  static constexpr TileSet<T> avx512 = TileKernels<T, Avx512>::set();
  if constexpr (detail::own_instructions == Instructions::avx512) {
    return avx512;
  } else {
    if (level == Instructions::avx512) return avx512;
    static constexpr TileSet<T> avx2 = TileKernels<T, Avx2>::set();
    if constexpr (detail::own_instructions == Instructions::avx2) {
      return avx2;
    } else {
      static constexpr TileSet<T> baseline = TileKernels<T, Baseline>::set();
      return level == Instructions::avx2 ? avx2 : baseline;
    }
  }
#else
  static constexpr TileSet<T> baseline = TileKernels<T, Baseline>::set();
  return baseline;
#endif
}

}  // namespace bahdanau::kernel
