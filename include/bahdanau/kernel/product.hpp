// Matrix products of our own: with a matrix that was packed once, or packed block by block as it is used.
// The layout is the same at every level of instructions, and a row's bits depend on no other row.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <bahdanau/core/transpose.hpp>
#include <bahdanau/kernel/aligned.hpp>
#include <bahdanau/kernel/dispatch.hpp>
#include <bahdanau/kernel/tile.hpp>
#include <bahdanau/kernel/transpose.hpp>

namespace bahdanau::kernel {

/// What is added to a product: nothing, a row for all rows (stride 0), or a matrix, perhaps the result
/// itself.
template <class T>
struct Addend {
  const T* data = nullptr;
  std::size_t stride = 0;
};

/// Copies so many numbers with the vectors of a level.
template <class Level, std::size_t Count, class T>
[[gnu::always_inline]] inline void copy(const T* from, T* to) {
  constexpr std::size_t width = std::min(Level::bytes / sizeof(T), Count);
  using Part = Vector<T, width * sizeof(T)>;
  for (std::size_t i = 0; i < Count; i += width) Part::load(from + i).store(to + i);
}

/// A matrix B [k, n] in panels of `columns` columns, each row by row; the last one is filled up with zeros.
template <class T>
class Panels {
 public:
  static constexpr std::size_t columns = 192 / sizeof(T);  // a whole number of tiles at every level

  /// Elements that B takes.
  static constexpr std::size_t size(std::size_t k, std::size_t n) {
    return (n + columns - 1) / columns * columns * k;
  }

  /// Lays B = op(b) out.
  static void pack(Transpose op, std::size_t k, std::size_t n, const T* b, std::size_t ldb, T* panels) {
    if (op == Transpose::no)
      return pack_each(
          k, n, [=](std::size_t p) { return b + p * ldb; }, panels);
    const std::size_t whole = n / columns * columns;
    if (whole > 0) dispatch(TransposedCopy{k, whole, b, ldb, panels});
    if (whole == n) return;
    T* last = panels + whole * k;
    std::fill_n(last, k * columns, T(0));
    for (std::size_t j = whole; j < n; ++j)
      for (std::size_t p = 0; p < k; ++p) last[p * columns + j - whole] = b[j * ldb + p];
  }

  /// Lays B out, row p of which is row `rows[p]` of b.
  template <class Index>
  static void pack_rows(std::size_t k, std::size_t n, const T* b, std::size_t ldb, const Index* rows,
                        T* panels) {
    pack_each(
        k, n, [=](std::size_t p) { return b + static_cast<std::size_t>(rows[p]) * ldb; }, panels);
  }

 private:
  /// Lays B out, row p of which begins at `row(p)`.
  template <class Row>
  static void pack_each(std::size_t k, std::size_t n, Row row, T* panels) {
    const std::size_t whole = n / columns * columns;
    if (whole > 0) dispatch(Copy<Row>{k, whole, row, panels});
    if (whole == n) return;
    T* last = panels + whole * k;
    std::fill_n(last, k * columns, T(0));
    for (std::size_t p = 0; p < k; ++p) std::copy_n(row(p) + whole, n - whole, last + p * columns);
  }

  /// Whole panels of B. A few rows at a time: whole rows would be as many streams as there are panels.
  template <class Row>
  struct Copy {
    std::size_t k, n;
    Row row;
    T* panels;
    template <class Level>
    void operator()(Level) const {
      constexpr std::size_t row_block = 8;
      for (std::size_t first = 0; first < k; first += row_block)
        for (std::size_t j = 0; j < n; j += columns)
          for (std::size_t p = first; p < std::min(first + row_block, k); ++p)
            copy<Level, columns>(row(p) + j, panels + j * k + p * columns);
    }
  };

  /// Whole panels of B = bᵀ.
  struct TransposedCopy {
    std::size_t k, n;
    const T* b;
    std::size_t ldb;
    T* panels;
    template <class Level>
    void operator()(Level) const {
      using Vector = typename Level::template Vector<T>;
      constexpr std::size_t width = Vector::size;
      T* to = panels;
      for (std::size_t j = 0; j < n; j += columns, to += k * columns) {
        std::size_t p = 0;
        for (; p + width <= k; p += width)
          for (std::size_t c = 0; c < columns; c += width) {
            Vector square[width];
            for (std::size_t i = 0; i < width; ++i) square[i] = Vector::load(b + (j + c + i) * ldb + p);
            SquareTranspose<Vector>::run(square);
            for (std::size_t i = 0; i < width; ++i) square[i].store(to + (p + i) * columns + c);
          }
        for (; p < k; ++p)
          for (std::size_t c = 0; c < columns; ++c) to[p * columns + c] = b[(j + c) * ldb + p];
      }
    }
  };
};

/// C [m, n] = op(A) [m, k] op(B) [k, n] + addend, at the level of instructions in use.
///
/// Every element of C is a chain of multiply-adds in the order of k, one for each block of it, whatever m is
/// and wherever its row lies: so the bits of a row do not depend on the other rows, as those of BLAS do.
template <class T>
class Product {
  static constexpr std::size_t panel = Panels<T>::columns;
  // Rows of A whose block stays in the second-level cache while panels pass by, and how deep that is. More
  // rows would be more pages of C than the TLB holds.
  static constexpr std::size_t block_rows = 64, block_depth = 512;
  // Columns of B that are packed together: about as much as the second-level cache holds.
  static constexpr std::size_t block_columns = 11 * panel;

 public:
  /// With B in panels.
  static void with_panels(std::size_t m, std::size_t n, std::size_t k, const T* a, std::size_t lda,
                          const T* panels, Addend<T> addend, T* c, std::size_t ldc) {
    multiply(tiles<T>(), m, n, k, rows_of(a, lda), in_panels(panels, k), addend, c, ldc);
  }

  /// With B as it lies. Blocks of it are packed, but for B that meets so few rows, or is so narrow, that
  /// packing takes as long as the product.
  static void multiply(Transpose transpose_a, Transpose transpose_b, std::size_t m, std::size_t n,
                       std::size_t k, const T* a, std::size_t lda, const T* b, std::size_t ldb,
                       Addend<T> addend, T* c, std::size_t ldc) {
    if (m == 0 || n == 0) return;
    if (transpose_b == Transpose::no && (m < 32 || n < panel))
      multiply_unpacked(transpose_a, m, n, k, a, lda, b, ldb, addend, c, ldc);
    else
      multiply_packing(transpose_a, m, n, k, a, lda, addend, c, ldc,
                       [=](std::size_t p, std::size_t deep, std::size_t j, std::size_t some, T* panels) {
                         const T* from = transpose_b == Transpose::yes ? b + j * ldb + p : b + p * ldb + j;
                         Panels<T>::pack(transpose_b, deep, some, from, ldb, panels);
                       });
  }

  /// C += Aᵀ B for A [k, m] and a B whose row p is row `rows[p]` of b.
  template <class Index>
  static void add_of_rows(std::size_t m, std::size_t n, std::size_t k, const T* a, std::size_t lda,
                          const T* b, std::size_t ldb, const Index* rows, T* c, std::size_t ldc) {
    if (m == 0 || n == 0) return;
    multiply_packing(Transpose::yes, m, n, k, a, lda, {c, ldc}, c, ldc,
                     [=](std::size_t p, std::size_t deep, std::size_t j, std::size_t some, T* panels) {
                       Panels<T>::pack_rows(deep, some, b + j, ldb, rows + p, panels);
                     });
  }

 private:
  /// What stands on the left. Element p of row i, where a tile begins with that row, is at data + i · tile +
  /// p · step; the tile's other rows are `row` apart.
  struct Left {
    const T* data;
    std::size_t tile, row, step;
    const T* at(std::size_t i, std::size_t p) const { return data + i * tile + p * step; }
  };
  /// A [m, k] as it lies.
  static Left rows_of(const T* a, std::size_t lda) { return {a, lda, lda, 1}; }
  /// Aᵀ of A [k, m] as it lies.
  static Left columns_of(const T* a, std::size_t lda) { return {a, 1, 1, lda}; }
  /// A [m, depth] in tiles of so many rows, each of them column after column.
  static Left in_tiles(const T* a, std::size_t depth, std::size_t height) { return {a, depth, 1, height}; }

  /// What stands on the right, read in whole vectors: panels, `next_panel` apart, with rows `row` apart.
  struct Right {
    const T* data;
    std::size_t next_panel, row;
    const T* at(std::size_t p, std::size_t j) const {
      return data + j / panel * next_panel + p * row + j % panel;
    }
  };
  static Right in_panels(const T* panels, std::size_t depth) { return {panels, depth * panel, panel}; }
  /// A matrix as it lies has its panels side by side.
  static Right rows_of_b(const T* b, std::size_t ldb) { return {b, panel, ldb}; }

  static void multiply(const TileSet<T>& kernels, std::size_t m, std::size_t n, std::size_t k, const Left& a,
                       const Right& b, Addend<T> addend, T* c, std::size_t ldc) {
    // As many panels as stay in the second-level cache while all rows pass by.
    constexpr std::size_t elements = (1U << 19) / sizeof(T);
    const std::size_t columns =
        std::max<std::size_t>(1, elements / std::max(k * panel, std::size_t{1})) * panel;
    for (std::size_t first = 0; first < n; first += columns)
      for (std::size_t block = 0; block < m; block += block_rows)
        multiply_block(kernels, block, std::min(block + block_rows, m), first, std::min(first + columns, n),
                       n, k, a, b, addend, c, ldc);
  }

  static void multiply_block(const TileSet<T>& kernels, std::size_t row, std::size_t rows_end,
                             std::size_t column, std::size_t columns_end, std::size_t n, std::size_t k,
                             const Left& a, const Right& b, Addend<T> addend, T* c, std::size_t ldc) {
    // Lines that each tile prefetches: together the part of the panels that comes next.
    constexpr std::size_t line = 64 / sizeof(T);
    const std::size_t tiles_per_panel =
        (rows_end - row + kernels.rows - 1) / kernels.rows * (panel / kernels.columns);
    const std::size_t prefetch_lines =
        (std::min(block_depth, k) * panel / line + tiles_per_panel - 1) / tiles_per_panel;
    for (std::size_t j = column; j < columns_end; j += panel)
      for (std::size_t p = 0; p < std::max(k, std::size_t{1}); p += block_depth) {
        const Addend<T> before = p == 0 ? addend : Addend<T>{c, ldc};
        const std::size_t depth = std::min(block_depth, k - p);
        const T* prefetch = b.at(p, j) + depth * b.row;
        for (std::size_t inside = j; inside < std::min(j + panel, n); inside += kernels.columns)
          for (std::size_t i = row; i < rows_end; i += kernels.rows, prefetch += prefetch_lines * line)
            kernels.run(std::min(kernels.rows, rows_end - i),
                        {depth, a.at(i, p), a.row, a.step, b.at(p, inside), b.row, prefetch, prefetch_lines,
                         std::min(kernels.columns, n - inside),
                         before.data ? before.data + i * before.stride + inside : nullptr, before.stride,
                         c + i * ldc + inside, ldc});
      }
  }

  static void multiply_unpacked(Transpose transpose_a, std::size_t m, std::size_t n, std::size_t k,
                                const T* a, std::size_t lda, const T* b, std::size_t ldb, Addend<T> addend,
                                T* c, std::size_t ldc) {
    const TileSet<T>& kernels = tiles<T>();
    const Left left = transpose_a == Transpose::no ? rows_of(a, lda) : columns_of(a, lda);
    // Tiles read whole vectors: what the last columns of B leave of one is packed.
    const std::size_t whole = n / kernels.width * kernels.width, rest = n - whole;
    if (whole > 0) multiply(kernels, m, whole, k, left, rows_of_b(b, ldb), addend, c, ldc);
    if (rest == 0) return;
    T* const edge = workspace<Workspace::edge>(Panels<T>::size(k, rest));
    Panels<T>::pack(Transpose::no, k, rest, b + whole, ldb, edge);
    multiply(kernels, m, rest, k, left, in_panels(edge, k),
             {addend.data ? addend.data + whole : nullptr, addend.stride}, c + whole, ldc);
  }

  /// `pack(p, deep, j, some, panels)` packs rows p, ... and columns j, ... of B.
  template <class Pack>
  static void multiply_packing(Transpose transpose_a, std::size_t m, std::size_t n, std::size_t k, const T* a,
                               std::size_t lda, Addend<T> addend, T* c, std::size_t ldc, Pack pack) {
    const TileSet<T>& kernels = tiles<T>();
    T* const block_a = workspace<Workspace::block>(block_depth * (block_rows + block_columns));
    T* const block_b = block_a + block_depth * block_rows;
    // Blocks of equal width, so that none is left with a few columns.
    const std::size_t cuts = (n + block_columns - 1) / block_columns;
    const std::size_t wide = ((n + cuts - 1) / cuts + panel - 1) / panel * panel;
    for (std::size_t j = 0; j < n; j += wide)
      for (std::size_t p = 0; p < std::max(k, std::size_t{1}); p += block_depth) {
        const std::size_t some = std::min(wide, n - j), deep = std::min(block_depth, k - p);
        pack(p, deep, j, some, block_b);
        const Addend<T> before = p == 0 ? addend : Addend<T>{c, ldc};
        const std::size_t together = transpose_a == Transpose::no ? m : block_rows;
        for (std::size_t i = 0; i < m; i += together) {
          const std::size_t count = std::min(together, m - i);
          if (transpose_a == Transpose::yes) dispatch(PackRows{deep, count, a + p * lda + i, lda, block_a});
          multiply(kernels, count, some, deep,
                   transpose_a == Transpose::no ? rows_of(a + p, lda) : in_tiles(block_a, deep, kernels.rows),
                   in_panels(block_b, deep),
                   {before.data ? before.data + i * before.stride + j : nullptr, before.stride},
                   c + i * ldc + j, ldc);
        }
      }
  }

  /// Some columns of a [deep, count] as the rows of tiles.
  struct PackRows {
    std::size_t deep, count;
    const T* a;
    std::size_t lda;
    T* tiles;
    template <class Level>
    void operator()(Level) const {
      constexpr std::size_t height = TileKernels<T, Level>::rows;
      const std::size_t whole = count / height * height;
      for (std::size_t q = 0; q < deep; ++q) {
        const T* from = a + q * lda;
        for (std::size_t i = 0; i < whole; i += height)
          copy<Level, height>(from + i, tiles + i * deep + q * height);
        for (std::size_t i = whole; i < count; ++i) tiles[whole * deep + q * height + i - whole] = from[i];
      }
    }
  };

  /// Of this thread; kept, so that later products allocate nothing.
  enum class Workspace { edge, block };
  template <Workspace>
  static T* workspace(std::size_t size) {
    static thread_local AlignedVector<T> numbers;
    if (numbers.size() < size) numbers.resize(size);
    return numbers.data();
  }
};

}  // namespace bahdanau::kernel
