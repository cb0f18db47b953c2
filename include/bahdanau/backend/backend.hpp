// The Backend concept: where arrays live and how work on them is launched.
// A backend is one small struct of static functions; no cell, score or layer needs code in it.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include <bahdanau/core/device.hpp>
#include <bahdanau/core/transpose.hpp>
#include <bahdanau/kernel/output.hpp>
#include <bahdanau/kernel/pointwise.hpp>

namespace bahdanau {

/// Row numbers and token ids as the kernels read them.
using Index = std::int32_t;

namespace detail {

// A stand-in with the shape of a row kernel, for the concept below.
struct AnyRowKernel {
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes, std::size_t) const {}
};
struct AnyTable {
  BAHDANAU_HOST_DEVICE float operator()(std::size_t, std::size_t) const { return 0; }
};

}  // namespace detail

/// Where arrays live and how a kernel is launched. Models: `Xtensor<T>`, `Thrust<T>`.
///
/// 1. `Scalar` is `float` or `double`; `name` says which backend it is in messages.
/// 2. `Storage<U>` owns elements of type `U` on the device: default-constructible, constructible from a
///    count, copyable, movable; `value_type`, `data()`, `size()`. All other functions take plain device
///    pointers.
/// 3. `upload` and `download` copy between host and device; `copy` and `fill` work on the device.
/// 4. `gemm` computes `C = alpha op(A) op(B) + beta C` for row-major matrices with row strides;
///    `gemm_batched` does so for `count` triples a fixed stride apart; `add_product_of_rows(m, n, k, a, lda,
///    b, ldb, rows, c, ldc)` computes `C += Aᵀ B'`, where row p of B' is row `rows[p]` of B.
/// 5. `for_rows(rows, kernel)` calls `kernel(lanes, row)` once for each row, in any order. Inside a row,
///    `lanes.map(n, f, outputs..., inputs...)` applies a pointwise functor to n columns: an output is a
///    `Store`, `Add` or `AddShared`, an input a pointer (one value per column) or a scalar (one for all);
///    `lanes.sum` and `lanes.max` reduce f over the columns, `lanes.any_above` looks for a value above a
///    limit among n, of which `Lanes::glance` are a good number. A backend may spread the columns over lanes,
///    so a kernel that reads what another column wrote must not exist, nor one map with two outputs in one
///    place; `lanes.owns(c)` says whose column c is, and `lanes.for_columns(n, f)` calls f(c) for those of n
///    that are a lane's own.
/// 6. `column_sum(rows, cols, x, stride, out)` adds the sum of the rows of x, `stride` apart, to out.
/// 7. `scatter_add(rows, cols, x, index, out)` adds row r of x to row `index[r]` of out; indices may repeat.
/// 8. `tabulate(rows, cols, f, out)` stores `f(row, column)`.
/// 9. `sum(n, x)` and `sum_of_squares(n, x)` reduce to one host value.
template <class B>
concept Backend = requires(typename B::Scalar* out, const typename B::Scalar* in, typename B::Scalar value,
                           std::size_t n, const Index* index) {
  requires std::same_as<typename B::Scalar, float> || std::same_as<typename B::Scalar, double>;
  typename B::template Storage<typename B::Scalar>;
  typename B::template Storage<Index>;
  B::name;
  B::upload(in, n, out);
  B::download(in, n, out);
  B::copy(in, n, out);
  B::fill(out, n, value);
  B::gemm(Transpose::no, Transpose::no, n, n, n, value, in, n, in, n, value, out, n);
  B::gemm_batched(Transpose::no, Transpose::no, n, n, n, value, in, n, n, in, n, n, value, out, n, n, n);
  B::add_product_of_rows(n, n, n, in, n, in, n, index, out, n);
  B::for_rows(n, detail::AnyRowKernel{});
  B::column_sum(n, n, in, n, out);
  B::scatter_add(n, n, in, index, out);
  B::tabulate(n, n, detail::AnyTable{}, out);
  { B::sum(n, in) } -> std::convertible_to<double>;
  { B::sum_of_squares(n, in) } -> std::convertible_to<double>;
};

/// A backend with products of its own for matrices that are laid out before. Models: `Xtensor<T>`.
///
/// 1. `packs()` says, when the program runs, whether a matrix that is used in many products gains from it;
///    where it does not, nothing below is called.
/// 2. `packed_size(k, n)` is how many elements a matrix [k, n] takes; `pack(op, k, n, b, ldb, packed)` lays
///    op(b) out there.
/// 3. `gemm_packed(m, n, k, a, lda, packed, addend, stride, c, ldc)` computes `C = A B + addend`, where the
///    addend may be null, a row for all rows (stride 0), or a matrix, perhaps C itself.
/// 4. `gemm_once(op, m, n, k, a, lda, b, ldb, addend, stride, c, ldc)` computes the same with op(b) as it
///    lies.
/// 5. The bits of a row of C depend on the same row of A alone, not on m.
/// 6. Columns from a multiple of `packed_columns` on are a packed matrix too: they begin at packed + first ·
///    k.
template <class B>
concept PackingBackend = Backend<B> &&
    requires(typename B::Scalar* out, const typename B::Scalar* in, std::size_t n) {
  { B::packs() } -> std::convertible_to<bool>;
  { B::packed_columns } -> std::convertible_to<std::size_t>;
  { B::packed_size(n, n) } -> std::convertible_to<std::size_t>;
  B::pack(Transpose::no, n, n, in, n, out);
  B::gemm_packed(n, n, n, in, n, in, in, n, out, n);
  B::gemm_once(Transpose::no, n, n, n, in, n, in, n, in, n, out, n);
};

/// A backend that spreads every call over its whole device, and says so: `spreads_calls` is true. Batches are
/// not cut for it, and all calls for one batch come from one thread. Models: `Thrust<T>`.
template <class B>
concept SpreadingBackend = Backend<B> && requires {
  requires B::spreads_calls;
};

namespace detail {

/// How many threads of ours are of use to a backend, where the user asked for so many.
template <Backend B>
constexpr std::size_t threads_for(std::size_t asked) {
  return SpreadingBackend<B> ? 1 : asked;
}

}  // namespace detail
}  // namespace bahdanau
