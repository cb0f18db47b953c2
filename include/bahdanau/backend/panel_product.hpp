// Products x op(W) with a matrix that is used many times: W is laid out once in panels as the kernel reads
// it. BLAS lays it out anew in every call, which costs as much as the product itself where x has few rows.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include <bahdanau/backend/backend.hpp>
#include <bahdanau/backend/simd.hpp>

namespace bahdanau::detail {

/// C [m, n] = A [m, k] B [k, n] + addend, with B in panels.
///
/// Every element of C is one chain of fused multiply-adds in the order of k, whatever m is and wherever its
/// row lies: so the bits of a row do not depend on the other rows, as those of BLAS do.
template <class T, class InstructionSet = xsimd::default_arch>
class PanelProduct {
  using Vector = xsimd::batch<T, InstructionSet>;
  static constexpr std::size_t width = Vector::size;
  // A tile of C stays in registers: 8 x 3 vectors of 32 registers, or 4 x 3 of 16.
  static constexpr std::size_t tile_vectors = 3;
  static constexpr std::size_t tile_rows = width * sizeof(T) == 64 ? 8 : 4;
  // A block of A stays in the second-level cache while all panels pass by, and a panel's part of as many rows
  // in the first-level cache while the block's tiles pass by.
  static constexpr std::size_t block_rows = 32 * tile_rows;
  static constexpr std::size_t block_depth = 512;

 public:
  static constexpr std::size_t tile_columns = tile_vectors * width;

  /// Whether the instruction set that this is compiled for makes the kernel faster than BLAS, which picks its
  /// own at run time.
#if defined(__FMA__)
  static constexpr bool worthwhile = width * sizeof(T) >= 32;
#else
  static constexpr bool worthwhile = false;
#endif

  /// Elements that B [k, n] takes in panels.
  static constexpr std::size_t size(std::size_t k, std::size_t n) {
    return (n + tile_columns - 1) / tile_columns * tile_columns * k;
  }

  /// Lays B = op(b) [k, n] out: panel after panel of `tile_columns` columns, each row by row; the last panel
  /// is filled up with zeros.
  static void pack(Transpose op, std::size_t k, std::size_t n, const T* b, std::size_t ldb, T* panels) {
    for (std::size_t j = 0; j < n; j += tile_columns, panels += k * tile_columns) {
      const std::size_t columns = std::min(tile_columns, n - j);
      if (columns < tile_columns) std::fill_n(panels, k * tile_columns, T(0));
      if (op == Transpose::no)
        for (std::size_t p = 0; p < k; ++p) std::copy_n(b + p * ldb + j, columns, panels + p * tile_columns);
      else
        // A few columns of b at a time: what is written stays in the first-level cache.
        for (std::size_t p = 0; p < k; p += width)
          for (std::size_t c = 0; c < columns; ++c)
            for (std::size_t q = p; q < std::min(p + width, k); ++q)
              panels[q * tile_columns + c] = b[(j + c) * ldb + q];
    }
  }

  /// What is added to the product: nothing, a row for all rows (stride 0), or a matrix, perhaps C itself.
  struct Addend {
    const T* data = nullptr;
    std::size_t stride = 0;
  };

  static void multiply(std::size_t m, std::size_t n, std::size_t k, const T* a, std::size_t lda,
                       const T* panels, Addend addend, T* c, std::size_t ldc) {
    for (std::size_t block = 0; block < m; block += block_rows) {
      const std::size_t end = std::min(block + block_rows, m);
      for (std::size_t p = 0; p < k; p += block_depth) {
        const Addend before = p == 0 ? addend : Addend{c, ldc};
        for (std::size_t j = 0; j < n; j += tile_columns)
          for (std::size_t i = block; i < end; i += tile_rows) {
            const Tile tile{std::min(block_depth, k - p),
                            lda,
                            a + i * lda + p,
                            panels + j * k + p * tile_columns,
                            std::min(tile_columns, n - j),
                            before.data ? before.data + i * before.stride + j : nullptr,
                            before.stride,
                            c + i * ldc + j,
                            ldc};
            kernel(std::min(tile_rows, end - i), tile.columns)(tile);
          }
      }
    }
  }

 private:
  struct Tile {
    std::size_t k, lda;
    const T *a, *panel;
    std::size_t columns;
    const T* addend;
    std::size_t addend_stride;
    T* c;
    std::size_t ldc;
  };
  using Kernel = void (*)(const Tile&);

  /// The kernel for a number of rows and as many vectors as the columns take.
  static Kernel kernel(std::size_t rows, std::size_t columns) {
    static constexpr auto table = []<std::size_t... I>(std::index_sequence<I...>) {
      return std::array<Kernel, tile_rows * tile_vectors>{
          &tile_product<I / tile_vectors + 1, I % tile_vectors + 1>...};
    }
    (std::make_index_sequence<tile_rows * tile_vectors>{});
    return table[(rows - 1) * tile_vectors + (columns - 1) / width];
  }

  template <std::size_t Rows, std::size_t Vectors>
  static void tile_product(const Tile& tile) {
    Vector sums[Rows][Vectors];
    for_each<Rows>([&](auto r) { for_each<Vectors>([&](auto v) { sums[r][v] = Vector(T(0)); }); });
    const std::size_t k = tile.k, lda = tile.lda;
    const T *a = tile.a, *b = tile.panel;
    for (std::size_t p = 0; p < k; ++p, ++a, b += tile_columns) {
      Vector row[Vectors];
      for_each<Vectors>([&](auto v) { row[v] = Vector::load_unaligned(b + v * width); });
      for_each<Rows>([&](auto r) {
        const Vector x(a[r * lda]);
        for_each<Vectors>([&](auto v) { sums[r][v] = xsimd::fma(x, row[v], sums[r][v]); });
      });
    }
    if (tile.columns == Vectors * width) {
      for_each<Rows>([&](auto r) {
        for_each<Vectors>([&](auto v) {
          if (tile.addend)
            sums[r][v] += Vector::load_unaligned(tile.addend + r * tile.addend_stride + v * width);
          sums[r][v].store_unaligned(tile.c + r * tile.ldc + v * width);
        });
      });
      return;
    }
    alignas(64) T edge[Rows][Vectors * width];
    for_each<Rows>(
        [&](auto r) { for_each<Vectors>([&](auto v) { sums[r][v].store_aligned(&edge[r][v * width]); }); });
    for (std::size_t r = 0; r < Rows; ++r)
      for (std::size_t c = 0; c < tile.columns; ++c)
        tile.c[r * tile.ldc + c] =
            tile.addend ? edge[r][c] + tile.addend[r * tile.addend_stride + c] : edge[r][c];
  }

  /// Unrolled, so that the sums are registers and not an array.
  template <std::size_t Count, class F>
#if defined(__GNUC__)
  [[gnu::always_inline]]
#endif
  static inline void
  for_each(F f) {
    [&]<std::size_t... I>(std::index_sequence<I...>) { (f(std::integral_constant<std::size_t, I>{}), ...); }
    (std::make_index_sequence<Count>{});
  }
};

}  // namespace bahdanau::detail
