// Products x op(W) with a matrix that is used many times: W is laid out once in panels as the kernel reads
// it. BLAS lays it out anew in every call, which costs as much as the product itself where x has few rows.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include <bahdanau/backend/backend.hpp>
#include <bahdanau/backend/simd.hpp>
#include <bahdanau/backend/transpose.hpp>

namespace bahdanau::detail {

/// C [m, n] = A [m, k] B [k, n] + addend, with B in panels.
///
/// Every element of C is a chain of fused multiply-adds in the order of k, one for each block of it, whatever
/// m is and wherever its row lies: so the bits of a row do not depend on the other rows, as those of BLAS do.
template <class T, class InstructionSet = xsimd::default_arch>
class PanelProduct {
  using Vector = xsimd::batch<T, InstructionSet>;
  static constexpr std::size_t width = Vector::size;
  // A tile of C stays in registers: 8 x 3 vectors of 32 registers, or 4 x 3 of 16.
  static constexpr std::size_t tile_vectors = 3;

 public:
  static constexpr std::size_t vector_bytes = width * sizeof(T);
  static constexpr std::size_t tile_rows = vector_bytes == 64 ? 8 : 4;
  static constexpr std::size_t tile_columns = tile_vectors * width;
  // A block of A stays in the second-level cache while some panels pass by. More rows would be more pages of
  // C at a time than the processor finds quickly.
  static constexpr std::size_t block_rows = 64, block_depth = 512;

  /// Whether the instruction set that this is compiled for makes the kernel faster than BLAS, which picks its
  /// own at run time.
#if defined(__FMA__)
  static constexpr bool worthwhile = vector_bytes >= 32;
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
    const std::size_t whole = n / tile_columns * tile_columns;
    if (op == Transpose::no)
      copy(k, whole, b, ldb, panels);
    else
      turn(k, whole, b, ldb, panels);
    if (whole == n) return;
    T* last = panels + whole * k;
    std::fill_n(last, k * tile_columns, T(0));
    for (std::size_t p = 0; p < k; ++p)
      for (std::size_t j = whole; j < n; ++j)
        last[p * tile_columns + j - whole] = op == Transpose::no ? b[p * ldb + j] : b[j * ldb + p];
  }

  /// What is added to the product: nothing, a row for all rows (stride 0), or a matrix, perhaps C itself.
  struct Addend {
    const T* data = nullptr;
    std::size_t stride = 0;
  };

  /// A [m, k] as it lies: rows `stride` apart.
  struct Rows {
    const T* data;
    std::size_t stride;
    const T* tile(std::size_t i, std::size_t p) const { return data + i * stride + p; }
    std::size_t row() const { return stride; }
    static constexpr std::size_t step = 1;
  };
  /// A [m, depth] in tiles of `tile_rows` rows, each of them column after column.
  struct Tiles {
    const T* data;
    std::size_t depth;
    const T* tile(std::size_t i, std::size_t p) const { return data + i * depth + p * tile_rows; }
    std::size_t row() const { return 1; }
    static constexpr std::size_t step = tile_rows;
  };

  template <class Left = Rows>
  static void multiply(std::size_t m, std::size_t n, std::size_t k, const Left& a, const T* panels,
                       Addend addend, T* c, std::size_t ldc) {
    // As many panels as stay in the second-level cache while all rows pass by.
    constexpr std::size_t elements = (1U << 19) / sizeof(T);
    const std::size_t columns =
        std::max<std::size_t>(1, elements / std::max(k * tile_columns, std::size_t{1})) * tile_columns;
    for (std::size_t first = 0; first < n; first += columns)
      for (std::size_t block = 0; block < m; block += block_rows)
        multiply_block({block, std::min(block + block_rows, m)}, {first, std::min(first + columns, n)}, k, n,
                       a, panels, addend, c, ldc);
  }

 private:
  /// Whole panels of B = b. A few rows at a time: whole rows would be as many streams as there are panels.
  static void copy(std::size_t k, std::size_t n, const T* b, std::size_t ldb, T* panels) {
    constexpr std::size_t few = 8;
    for (std::size_t first = 0; first < k; first += few)
      for (std::size_t j = 0; j < n; j += tile_columns)
        for (std::size_t p = first; p < std::min(first + few, k); ++p)
          for_each<tile_vectors>([&](auto v) {
            Vector::load_unaligned(b + p * ldb + j + v * width)
                .store_unaligned(panels + j * k + p * tile_columns + v * width);
          });
  }

  /// Whole panels of B = bᵀ.
  static void turn(std::size_t k, std::size_t n, const T* b, std::size_t ldb, T* panels) {
    for (std::size_t j = 0; j < n; j += tile_columns, panels += k * tile_columns) {
      std::size_t p = 0;
      for (; p + width <= k; p += width)
        for (std::size_t c = 0; c < tile_columns; c += width) {
          Vector square[width];
          for (std::size_t i = 0; i < width; ++i)
            square[i] = Vector::load_unaligned(b + (j + c + i) * ldb + p);
          SquareTranspose<Vector>::run(square);
          for (std::size_t i = 0; i < width; ++i)
            square[i].store_unaligned(panels + (p + i) * tile_columns + c);
        }
      for (; p < k; ++p)
        for (std::size_t c = 0; c < tile_columns; ++c) panels[p * tile_columns + c] = b[(j + c) * ldb + p];
    }
  }

  struct Range {
    std::size_t begin, end;
  };

  template <class Left>
  static void multiply_block(Range rows, Range columns, std::size_t k, std::size_t n, const Left& a,
                             const T* panels, Addend addend, T* c, std::size_t ldc) {
    // Lines that each tile fetches ahead: together the part of the panels that comes next.
    constexpr std::size_t line = 64 / sizeof(T);
    const std::size_t tiles = (rows.end - rows.begin + tile_rows - 1) / tile_rows;
    const std::size_t lines = (std::min(block_depth, k) * tile_columns / line + tiles - 1) / tiles;
    for (std::size_t j = columns.begin; j < columns.end; j += tile_columns)
      for (std::size_t p = 0; p < k; p += block_depth) {
        const Addend before = p == 0 ? addend : Addend{c, ldc};
        const std::size_t depth = std::min(block_depth, k - p);
        const T* panel = panels + j * k + p * tile_columns;
        const T* ahead = panel + depth * tile_columns;
        for (std::size_t i = rows.begin; i < rows.end; i += tile_rows, ahead += lines * line) {
          const Tile tile{depth,
                          a.row(),
                          a.step,
                          a.tile(i, p),
                          panel,
                          ahead,
                          lines,
                          std::min(tile_columns, n - j),
                          before.data ? before.data + i * before.stride + j : nullptr,
                          before.stride,
                          c + i * ldc + j,
                          ldc};
          kernel(std::min(tile_rows, rows.end - i), tile.columns)(tile);
        }
      }
  }

  struct Tile {
    std::size_t k, row, step;
    const T *a, *panel;
    const T* ahead;  // what to bring nearer, as many cache lines
    std::size_t lines;
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

  template <std::size_t Count, std::size_t Vectors>
  static void tile_product(const Tile& tile) {
    Vector sums[Count][Vectors];
    for_each<Count>([&](auto r) { for_each<Vectors>([&](auto v) { sums[r][v] = Vector(T(0)); }); });
    for_each<Count>(
        [&](auto r) { for_each<Vectors>([&](auto v) { expect_write(tile.c + r * tile.ldc + v * width); }); });
    const std::size_t k = tile.k, lda = tile.row, step = tile.step, lines = tile.lines;
    const T *a = tile.a, *b = tile.panel;
    const char* ahead = reinterpret_cast<const char*>(tile.ahead);
    for (std::size_t p = 0; p < k; ++p, a += step, b += tile_columns) {
      if (p < lines) bring_nearer(ahead + p * 64);
      Vector row[Vectors];
      for_each<Vectors>([&](auto v) { row[v] = Vector::load_unaligned(b + v * width); });
      for_each<Count>([&](auto r) {
        const Vector x(a[r * lda]);
        for_each<Vectors>([&](auto v) { sums[r][v] = xsimd::fma(x, row[v], sums[r][v]); });
      });
    }
    if (tile.columns == Vectors * width) {
      for_each<Count>([&](auto r) {
        for_each<Vectors>([&](auto v) {
          if (tile.addend)
            sums[r][v] += Vector::load_unaligned(tile.addend + r * tile.addend_stride + v * width);
          sums[r][v].store_unaligned(tile.c + r * tile.ldc + v * width);
        });
      });
      return;
    }
    alignas(64) T edge[Count][Vectors * width];
    for_each<Count>(
        [&](auto r) { for_each<Vectors>([&](auto v) { sums[r][v].store_aligned(&edge[r][v * width]); }); });
    for (std::size_t r = 0; r < Count; ++r)
      for (std::size_t c = 0; c < tile.columns; ++c)
        tile.c[r * tile.ldc + c] =
            tile.addend ? edge[r][c] + tile.addend[r * tile.addend_stride + c] : edge[r][c];
  }

  // Hints to the processor, where the compiler knows how to give them: a place that is soon written to, and
  // one that is read after a while, for the second-level cache. An address past the end does no harm.
  static void expect_write([[maybe_unused]] const T* place) {
#if defined(__GNUC__)
    __builtin_prefetch(place, 1, 3);
#endif
  }
  static void bring_nearer([[maybe_unused]] const char* place) {
#if defined(__GNUC__)
    __builtin_prefetch(place, 0, 2);
#endif
  }

  /// Unrolled, so that the sums are registers and not an array.
  template <std::size_t N, class F>
#if defined(__GNUC__)
  [[gnu::always_inline]]
#endif
  static inline void
  for_each(F f) {
    [&]<std::size_t... I>(std::index_sequence<I...>) { (f(std::integral_constant<std::size_t, I>{}), ...); }
    (std::make_index_sequence<N>{});
  }
};

}  // namespace bahdanau::detail
