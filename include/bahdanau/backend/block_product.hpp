// Products of matrices that are used once: B is laid out in panels block by block, as the kernel reads it.
// Faster than OpenBLAS where the file is compiled for the widest vectors; a row's bits depend on no other's.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <bahdanau/backend/backend.hpp>
#include <bahdanau/backend/panel_product.hpp>
#include <bahdanau/backend/simd.hpp>

namespace bahdanau::detail {

/// C [m, n] = op(A) [m, k] op(B) [k, n] + addend.
template <class T, class Panels>
class BlockProduct {
  // A block of B: deep enough that C is seldom read again, and about as large as the second-level cache.
  static constexpr std::size_t depth = Panels::block_depth, columns = 11 * Panels::tile_columns;
  static constexpr std::size_t rows = Panels::block_rows;

 public:
  /// Whether this is faster than BLAS: it is by a tenth on vectors of 64 bytes, and as much slower on those
  /// of 32, for which OpenBLAS's kernels are at the processor's limit.
  static constexpr bool worthwhile = Panels::worthwhile && Panels::vector_bytes == 64;
  /// Whether B is used often enough to be laid out for it, and fills a panel.
  static constexpr bool pays(std::size_t m, std::size_t n, std::size_t k) {
    return m >= 32 && n >= Panels::tile_columns && k > 0;
  }

  static void multiply(Transpose transpose_a, Transpose transpose_b, std::size_t m, std::size_t n,
                       std::size_t k, const T* a, std::size_t lda, const T* b, std::size_t ldb,
                       typename Panels::Addend addend, T* c, std::size_t ldc) {
    T* const room_a = room();
    T* const room_b = room_a + depth * rows;
    // Blocks of equal width, so that none is left with a few columns.
    const std::size_t cuts = (n + columns - 1) / columns, tile = Panels::tile_columns;
    const std::size_t wide = ((n + cuts - 1) / cuts + tile - 1) / tile * tile;
    for (std::size_t j = 0; j < n; j += wide)
      for (std::size_t p = 0; p < k; p += depth) {
        const std::size_t some = std::min(wide, n - j), deep = std::min(depth, k - p);
        Panels::pack(transpose_b, deep, some,
                     transpose_b == Transpose::yes ? b + j * ldb + p : b + p * ldb + j, ldb, room_b);
        const auto part = [&](std::size_t i, std::size_t count, const auto& block) {
          const auto before = p == 0 ? addend : typename Panels::Addend{c, ldc};
          Panels::multiply(count, some, deep, block, room_b,
                           {before.data ? before.data + i * before.stride + j : nullptr, before.stride},
                           c + i * ldc + j, ldc);
        };
        if (transpose_a == Transpose::no) {
          part(0, m, typename Panels::Rows{a + p, lda});
          continue;
        }
        for (std::size_t i = 0; i < m; i += rows) {
          const std::size_t count = std::min(rows, m - i);
          lay_out(deep, count, a + p * lda + i, lda, room_a);
          part(i, count, typename Panels::Tiles{room_a, deep});
        }
      }
  }

 private:
  /// Some columns of a [deep, count] as the rows of tiles.
  static void lay_out(std::size_t deep, std::size_t count, const T* a, std::size_t lda, T* tiles) {
    constexpr std::size_t tall = Panels::tile_rows;
    const std::size_t whole = count / tall * tall;
    for (std::size_t q = 0; q < deep; ++q) {
      const T* from = a + q * lda;
      for (std::size_t i = 0; i < whole; i += tall) std::copy_n(from + i, tall, tiles + i * deep + q * tall);
      std::copy(from + whole, from + count, tiles + whole * deep + q * tall);
    }
  }

  /// Of this thread, for a block of A and one of B; kept, so that later products allocate nothing.
  static T* room() {
    static thread_local std::vector<T, xsimd::aligned_allocator<T, 64>> numbers(depth * (rows + columns));
    return numbers.data();
  }
};

}  // namespace bahdanau::detail
