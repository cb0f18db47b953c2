// The CPU backend: xtensor's containers, BLAS or kernels of our own for the products, xsimd for the rest.
// A row's tail runs the same vector code as its body, so a value does not depend on its position.
#pragma once

#if __has_include(<xtensor/containers/xstorage.hpp>)  // xtensor 0.26 and later keep headers in subfolders
#include <xtensor/containers/xstorage.hpp>
#else
#include <xtensor/xstorage.hpp>
#endif

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <bahdanau/backend/backend.hpp>
#include <bahdanau/backend/blas.hpp>
#include <bahdanau/backend/block_product.hpp>
#include <bahdanau/backend/panel_product.hpp>
#include <bahdanau/backend/simd.hpp>
#include <bahdanau/kernel/group_lanes.hpp>

namespace bahdanau {

namespace detail {

/// The vector loops of one row; see point 5 of the Backend contract.
template <class T, class InstructionSet>
class SimdLanes {
  using Vector = xsimd::batch<T, InstructionSet>;
  static constexpr std::size_t width = Vector::size;

 public:
  /// Applies f to n columns. Arguments: the outputs (`Store`, `Add`, `AddShared`), then the inputs.
  template <class F, class... Arguments>
  void map(std::size_t n, F f, Arguments... arguments) const {
    constexpr std::size_t outputs = (std::size_t{is_output<Arguments>} + ...);
    const std::tuple<Arguments...> all(arguments...);
    map_split(n, f, all, std::make_index_sequence<outputs>{},
              std::make_index_sequence<sizeof...(Arguments) - outputs>{});
  }

  /// Sum of f over n columns.
  template <class F, class... Inputs>
  T sum(std::size_t n, F f, Inputs... inputs) const {
    Vector even(T(0)), odd(T(0));  // two chains, so that one addition need not wait for the other
    std::size_t c = 0;
    for (; c + 2 * width <= n; c += 2 * width) {
      even += f(load(inputs, c)...);
      odd += f(load(inputs, c + width)...);
    }
    for (; c < n; c += width) {
      const std::size_t count = std::min(width, n - c);
      if (count == width)
        even += f(load(inputs, c)...);
      else
        odd += keep_first(f(load_first(inputs, c, count)...), count, T(0));
    }
    return horizontal(even + odd, [](T a, T b) { return a + b; });
  }

  /// Largest value of f over n columns; n must not be 0.
  template <class F, class... Inputs>
  T max(std::size_t n, F f, Inputs... inputs) const {
    constexpr T lowest = std::numeric_limits<T>::lowest();
    Vector best(lowest);
    for (std::size_t c = 0; c < n; c += width) {
      const std::size_t count = std::min(width, n - c);
      best = xsimd::max(best, count == width ? f(load(inputs, c)...)
                                             : keep_first(f(load_first(inputs, c, count)...), count, lowest));
    }
    return horizontal(best, [](T a, T b) { return std::max(a, b); });
  }

  /// Whether one of n values is above the limit; quick for `glance` of them.
  static constexpr std::size_t glance = 2 * width;
  bool any_above(std::size_t n, const T* x, T limit) const {
    const Vector bound(limit);
    std::size_t c = 0;
    for (; c + glance <= n; c += glance)
      if (xsimd::any((load(x, c) > bound) | (load(x, c + width) > bound))) return true;
    for (; c < n; ++c)
      if (x[c] > limit) return true;
    return false;
  }

  /// Calls f(c) for the columns of n that this call works on: on the CPU for all of them, in order.
  template <class F>
  void for_columns(std::size_t n, F f) const {
    for (std::size_t c = 0; c < n; ++c) f(c);
  }

  /// Whether this call works on column c; on the CPU one call works on all of them.
  constexpr bool owns(std::size_t) const { return true; }

 private:
  template <class A>
  static constexpr bool is_output =
      std::same_as<A, Store<T>> || std::same_as<A, Add<T>> || std::same_as<A, AddShared<T>>;

  static Vector load(const T* data, std::size_t c) { return Vector::load_unaligned(data + c); }
  static Vector load(T scalar, std::size_t) { return Vector(scalar); }

  // The first `count` lanes hold columns c..., the rest 1: a value that no formula divides by or overflows
  // on.
  static Vector load_first(const T* data, std::size_t c, std::size_t count) {
    alignas(64) T lanes[width];
    std::fill_n(lanes, width, T(1));
    std::copy_n(data + c, count, lanes);
    return Vector::load_aligned(lanes);
  }
  static Vector load_first(T scalar, std::size_t, std::size_t) { return Vector(scalar); }

  static Vector keep_first(Vector v, std::size_t count, T rest) {
    alignas(64) T lanes[width];
    v.store_aligned(lanes);
    std::fill(lanes + count, lanes + width, rest);
    return Vector::load_aligned(lanes);
  }

  // The upper half onto the lower one, until one lane is left: fewer steps that wait for one another.
  template <class Combine>
  static T horizontal(Vector v, Combine combine) {
    alignas(64) T lanes[width];
    v.store_aligned(lanes);
    for (std::size_t half = width / 2; half > 0; half /= 2)
      for (std::size_t lane = 0; lane < half; ++lane) lanes[lane] = combine(lanes[lane], lanes[lane + half]);
    return lanes[0];
  }

  static void put(Store<T> out, std::size_t c, Vector v) { v.store_unaligned(out.data + c); }
  template <template <class> class Output>
  static void put(Output<T> out, std::size_t c, Vector v) {
    (Vector::load_unaligned(out.data + c) + v).store_unaligned(out.data + c);
  }

  // A tail's arguments: the same, but in a buffer that is wide enough for a whole vector.
  struct Tail {
    alignas(64) T lanes[width];
    std::size_t count;

    const T* move(const T* data, std::size_t c) {
      std::fill_n(lanes, width, T(1));
      std::copy_n(data + c, count, lanes);
      return lanes;
    }
    T move(T scalar, std::size_t) { return scalar; }
    template <template <class> class Output>
    Output<T> move(Output<T> out, std::size_t c) {
      move(out.data, c);
      return {lanes};
    }
    void put_back(const T*, std::size_t) const {}
    void put_back(T, std::size_t) const {}
    template <template <class> class Output>
    void put_back(Output<T> out, std::size_t c) const {
      std::copy_n(lanes, count, out.data + c);
    }
  };

  // A functor gives one vector, or `Values` of several.
  static Vector pick(const Vector& v, std::size_t) { return v; }
  template <std::size_t Count>
  static Vector pick(const pointwise::Values<Vector, Count>& v, std::size_t i) {
    return v.value[i];
  }

  // Whole vectors. Compiled once and never inlined or cloned, so that a body and a tail run the very same
  // instructions: where products and sums are contracted, they are so everywhere.
  template <class F, class All, std::size_t... Out, std::size_t... In>
#if defined(__clang__)
  [[gnu::noinline]]
#else
  [[gnu::noipa]]
#endif
  static void
  vectors(std::size_t n, const F& f, const All& all, std::index_sequence<Out...>,
          std::index_sequence<In...>) {
    constexpr std::size_t first = sizeof...(Out);
    const All arguments = all;
    for (std::size_t c = 0; c < n; c += width) {
      const auto result = f(load(std::get<first + In>(arguments), c)...);
      (put(std::get<Out>(arguments), c, pick(result, Out)), ...);
    }
  }

  template <class F, class All, std::size_t... Out, std::size_t... In>
  static void map_split(std::size_t n, const F& f, const All& all, std::index_sequence<Out...> out,
                        std::index_sequence<In...> in) {
    const std::size_t whole = n / width * width;
    if (whole > 0) vectors(whole, f, all, out, in);
    if (whole == n) return;
    std::array<Tail, sizeof...(Out) + sizeof...(In)> tails;
    for (Tail& tail : tails) tail.count = n - whole;
    const auto moved = [&]<std::size_t... I>(std::index_sequence<I...>) {
      return All(tails[I].move(std::get<I>(all), whole)...);
    }
    (std::make_index_sequence<std::tuple_size_v<All>>{});
    vectors(width, f, moved, out, in);
    (std::get<Out>(tails).put_back(std::get<Out>(all), whole), ...);
  }
};

}  // namespace detail

/// The CPU backend with scalars of type `T`.
///
/// The instruction set is the one that the file is compiled for. It is part of the type: files of one program
/// that are compiled for different ones must not share code, whose vectors and packed weights differ.
template <class T, class InstructionSet = detail::DefaultInstructionSet>
struct Xtensor {
  static_assert(std::same_as<T, float> || std::same_as<T, double>,
                "bahdanau: Xtensor<T> needs T = float or T = double");
  using Scalar = T;
  static constexpr std::string_view name = "Xtensor";

  static constexpr bool has_vectors = !std::same_as<InstructionSet, detail::NoVectors>;
  using Panels =
      detail::PanelProduct<T, std::conditional_t<has_vectors, InstructionSet, xsimd::default_arch>>;
  using Blocks = detail::BlockProduct<T, Panels>;
  using Lanes = std::conditional_t<has_vectors, detail::SimdLanes<T, InstructionSet>,
                                   detail::GroupLanes<T, detail::SingleThread>>;

  /// Uninitialised, aligned for the widest vectors whatever the consumer's own xtensor settings are.
  template <class U>
  using Storage = xt::uvector<U, xsimd::aligned_allocator<U, 64>>;

  template <class U>
  static void upload(const U* host, std::size_t n, U* device) {
    std::copy_n(host, n, device);
  }
  template <class U>
  static void download(const U* device, std::size_t n, U* host) {
    std::copy_n(device, n, host);
  }
  static void copy(const T* from, std::size_t n, T* to) { std::copy_n(from, n, to); }
  static void fill(T* out, std::size_t n, T value) { std::fill_n(out, n, value); }

  static void gemm(Transpose transpose_a, Transpose transpose_b, std::size_t m, std::size_t n, std::size_t k,
                   T alpha, const T* a, std::size_t lda, const T* b, std::size_t ldb, T beta, T* c,
                   std::size_t ldc) {
    if constexpr (Blocks::worthwhile) {
      if (alpha == T(1) && (beta == T(0) || beta == T(1)) && Blocks::pays(m, n, k))
        return Blocks::multiply(transpose_a, transpose_b, m, n, k, a, lda, b, ldb,
                                {beta == T(0) ? nullptr : c, ldc}, c, ldc);
    }
    blas::use_one_thread();
    blas::gemm(transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  }
  static void gemm_batched(Transpose transpose_a, Transpose transpose_b, std::size_t m, std::size_t n,
                           std::size_t k, T alpha, const T* a, std::size_t lda, std::size_t stride_a,
                           const T* b, std::size_t ldb, std::size_t stride_b, T beta, T* c, std::size_t ldc,
                           std::size_t stride_c, std::size_t count) {
    blas::use_one_thread();
    for (std::size_t i = 0; i < count; ++i)
      blas::gemm(transpose_a, transpose_b, m, n, k, alpha, a + i * stride_a, lda, b + i * stride_b, ldb, beta,
                 c + i * stride_c, ldc);
  }

  static constexpr std::size_t packed_columns = Panels::tile_columns;
  static std::size_t packed_size(std::size_t k, std::size_t n) requires Panels::worthwhile {
    return Panels::size(k, n);
  }
  static void pack(Transpose op, std::size_t k, std::size_t n, const T* b, std::size_t ldb,
                   T* packed) requires Panels::worthwhile {
    Panels::pack(op, k, n, b, ldb, packed);
  }
  static void gemm_packed(std::size_t m, std::size_t n, std::size_t k, const T* a, std::size_t lda,
                          const T* packed, const T* addend, std::size_t stride, T* c,
                          std::size_t ldc) requires Panels::worthwhile {
    Panels::multiply(m, n, k, {a, lda}, packed, {addend, stride}, c, ldc);
  }

  static void gemm_once(Transpose op, std::size_t m, std::size_t n, std::size_t k, const T* a,
                        std::size_t lda, const T* b, std::size_t ldb, const T* addend, std::size_t stride,
                        T* c, std::size_t ldc) requires Blocks::worthwhile {
    Blocks::multiply(Transpose::no, op, m, n, k, a, lda, b, ldb, {addend, stride}, c, ldc);
  }

  template <class Kernel>
  static void for_rows(std::size_t rows, Kernel kernel) {
    for (std::size_t row = 0; row < rows; ++row) kernel(Lanes{}, row);
  }

  static void column_sum(std::size_t rows, std::size_t cols, const T* x, std::size_t stride, T* out) {
    const Lanes lanes;
    for (std::size_t row = 0; row < rows; ++row)
      lanes.map(cols, pointwise::Identity{}, Add<T>{out}, x + row * stride);
  }
  static void scatter_add(std::size_t rows, std::size_t cols, const T* x, const Index* index, T* out) {
    const Lanes lanes;
    for (std::size_t row = 0; row < rows; ++row)
      lanes.map(cols, pointwise::Identity{}, Add<T>{out + static_cast<std::size_t>(index[row]) * cols},
                x + row * cols);
  }

  template <class F>
  static void tabulate(std::size_t rows, std::size_t cols, F f, T* out) {
    for (std::size_t row = 0; row < rows; ++row)
      for (std::size_t c = 0; c < cols; ++c) out[row * cols + c] = static_cast<T>(f(row, c));
  }

  static double sum(std::size_t n, const T* x) {
    return in_blocks(n, x, pointwise::Identity{}, [](const T* p) { return std::tuple(p); });
  }
  static double sum_of_squares(std::size_t n, const T* x) {
    return in_blocks(n, x, pointwise::Times{}, [](const T* p) { return std::tuple(p, p); });
  }

 private:
  // Long sums in blocks whose totals are added in double: float would lose digits over millions of elements.
  template <class F, class Inputs>
  static double in_blocks(std::size_t n, const T* x, F f, Inputs inputs) {
    constexpr std::size_t block = 1024;
    const Lanes lanes;
    double total = 0;
    for (std::size_t begin = 0; begin < n; begin += block)
      total += static_cast<double>(std::apply(
          [&](auto... p) { return lanes.sum(std::min(block, n - begin), f, p...); }, inputs(x + begin)));
    return total;
  }
};

static_assert(Backend<Xtensor<float>> && Backend<Xtensor<double>>);

}  // namespace bahdanau
