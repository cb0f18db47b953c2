// The loops over the columns of one row, in vectors: what a row kernel is called with on the CPU.
// Sums have the same order at every level, and a row's tail runs the code of its body.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

#include <bahdanau/kernel/dispatch.hpp>
#include <bahdanau/kernel/group_lanes.hpp>
#include <bahdanau/kernel/maths.hpp>
#include <bahdanau/kernel/output.hpp>
#include <bahdanau/kernel/pointwise.hpp>

// What stands between a loop over rows and a functor. g++ inlines all of it into `Targeted`, which is
// flattened, and gives up where a function on the way asks to be inlined itself. clang++ flattens one call
// deep, so each asks for it.
#if defined(__clang__)
#define BAHDANAU_GLUE [[gnu::always_inline, gnu::flatten]]
#else
#define BAHDANAU_GLUE
#endif

namespace bahdanau::kernel {

/// See point 5 of the Backend contract.
template <class T, class Level>
class Lanes {
  using Vector = typename Level::template Vector<T>;
  static constexpr std::size_t width = Vector::size;
  // Sums and largest values are taken over so many lanes, as one vector or as several parts of one.
  static constexpr std::size_t logical = 64 / sizeof(T), parts = logical / width;

 public:
  /// Applies f to n columns. Arguments: the outputs (`Store`, `Add`, `AddShared`), then the inputs.
  template <class F, class... Arguments>
  BAHDANAU_GLUE void map(std::size_t n, F f, Arguments... arguments) const {
    constexpr std::size_t outputs = (std::size_t{is_output<Arguments>} + ...);
    map_split(n, f, std::tuple<Argument<Arguments>...>(arguments...), std::make_index_sequence<outputs>{},
              std::make_index_sequence<sizeof...(Arguments) - outputs>{});
  }

  /// Sum of f over n columns.
  template <class F, class... Inputs>
  BAHDANAU_GLUE T sum(std::size_t n, F f, Inputs... inputs) const {
    const Vector zeros = Vector::unknown_zeros();
    return reduce<is_light<F>>(
        n, T(0), [&](const Vector& a, const Vector& b) { return a + rounded(b, zeros); },
        [](const Vector& a, const Vector& b) { return a + b; }, [](T a, T b) { return a + b; }, f, inputs...);
  }

  /// Largest value of f over n columns; n must not be 0.
  template <class F, class... Inputs>
  BAHDANAU_GLUE T max(std::size_t n, F f, Inputs... inputs) const {
    const auto larger = [](const Vector& a, const Vector& b) { return select(a > b, a, b); };
    return reduce<is_light<F>>(
        n, std::numeric_limits<T>::lowest(), larger, larger, [](T a, T b) { return std::max(a, b); }, f,
        inputs...);
  }

  /// Whether one of n values is above the limit; quick for `glance` of them.
  static constexpr std::size_t glance = 4 * width;
  BAHDANAU_GLUE bool any_above(std::size_t n, const T* x, T limit) const {
    const Vector bound(limit);
    std::size_t c = 0;
    for (; c + glance <= n; c += glance)
      if (any((load(x, c) > bound) | (load(x, c + width) > bound) | (load(x, c + 2 * width) > bound) |
              (load(x, c + 3 * width) > bound)))
        return true;
    for (; c < n; ++c)
      if (x[c] > limit) return true;
    return false;
  }

  /// Calls f(c) for the columns of n that this call works on: on the CPU for all of them, in order.
  template <class F>
  BAHDANAU_GLUE void for_columns(std::size_t n, F f) const {
    for (std::size_t c = 0; c < n; ++c) f(c);
  }

  /// Whether this call works on column c; on the CPU one call works on all of them.
  constexpr bool owns(std::size_t) const { return true; }

 private:
  template <class A>
  static constexpr bool is_output =
      std::same_as<A, Store<T>> || std::same_as<A, Add<T>> || std::same_as<A, AddShared<T>>;

  /// An output as it is, an input as a pointer or a number.
  template <class A>
  using Argument = std::conditional_t<is_output<A>, A, std::conditional_t<std::is_pointer_v<A>, const T*, T>>;

  BAHDANAU_GLUE static Vector load(const T* data, std::size_t c) { return Vector::load(data + c); }
  BAHDANAU_GLUE static Vector load(T scalar, std::size_t) { return Vector(scalar); }

  /// Whether a functor takes so little that sums wait for their additions: these have two chains.
  template <class F>
  static constexpr bool is_light = std::same_as<F, pointwise::Identity> || std::same_as<F, pointwise::Times>;

  /// Combines f of all columns, lane by lane and then the lanes. `logical` lanes at every level, so that the
  /// order is the same at all of them. The functor stands here once, as it may be large: the last columns
  /// come from a buffer, and lanes without a column are put back afterwards.
  template <bool Light, class Combine, class Merge, class CombineScalars, class F, class... Inputs>
  BAHDANAU_GLUE static T reduce(std::size_t n, T start, Combine combine, Merge merge,
                                CombineScalars combine_scalars, F f, Inputs... inputs) {
    constexpr std::size_t chains = Light ? 2 : 1;
    Vector even[parts], odd[parts];
    for (std::size_t p = 0; p < parts; ++p) even[p] = odd[p] = Vector(start);
    std::size_t c = 0;
    if constexpr (Light)
      for (; c + 2 * logical <= n; c += 2 * logical)
        for (std::size_t p = 0; p < parts; ++p) {
          even[p] = combine(even[p], f(load(inputs, c + p * width)...));
          odd[p] = combine(odd[p], f(load(inputs, c + logical + p * width)...));
        }
    alignas(64) T lanes[logical], before[logical];
    std::array<Buffer, sizeof...(Inputs)> buffers;
    std::tuple<Argument<Inputs>...> from(inputs...);
    std::size_t count = logical;
    for (; c < n; c += logical) {
      if (n - c < logical) {
        count = n - c;
        for (std::size_t p = 0; p < parts; ++p) even[p].store(before + p * width);
        from = moved(buffers, from, c, count, std::index_sequence_for<Inputs...>{});
        c = 0;
        n = 0;  // which ends the loop
      }
      take(even, combine, f, from, c, std::index_sequence_for<Inputs...>{});
    }
    for (std::size_t p = 0; p < parts; ++p) even[p].store(lanes + p * width);
    for (std::size_t lane = count; lane < logical; ++lane) lanes[lane] = before[lane];
    if constexpr (chains == 2)
      for (std::size_t p = 0; p < parts; ++p)
        merge(Vector::load(lanes + p * width), odd[p]).store(lanes + p * width);
    // The upper half onto the lower one, until one lane is left: fewer steps that wait for one another.
    for (std::size_t half = logical / 2; half > 0; half /= 2)
      for (std::size_t lane = 0; lane < half; ++lane)
        lanes[lane] = combine_scalars(lanes[lane], lanes[lane + half]);
    return lanes[0];
  }
  template <class Combine, class F, class From, std::size_t... I>
  BAHDANAU_GLUE static void take(Vector (&sums)[parts], Combine combine, const F& f, const From& from,
                                 std::size_t c, std::index_sequence<I...>) {
    for (std::size_t p = 0; p < parts; ++p)
      sums[p] = combine(sums[p], f(load(std::get<I>(from), c + p * width)...));
  }

  /// The last columns of an argument, filled up with 1: a value that no formula divides by or overflows on.
  struct Buffer {
    alignas(64) T lanes[logical];

    BAHDANAU_GLUE const T* move(const T* data, std::size_t c, std::size_t count) {
      for (std::size_t i = 0; i < count; ++i) lanes[i] = data[c + i];
      for (std::size_t i = count; i < logical; ++i) lanes[i] = T(1);
      return lanes;
    }
    BAHDANAU_GLUE T move(T scalar, std::size_t, std::size_t) { return scalar; }
    template <template <class> class Output>
    BAHDANAU_GLUE Output<T> move(Output<T> out, std::size_t c, std::size_t count) {
      move(static_cast<const T*>(out.data), c, count);
      return {lanes};
    }
    template <template <class> class Output>
    BAHDANAU_GLUE void put_back(Output<T> out, std::size_t c, std::size_t count) const {
      for (std::size_t i = 0; i < count; ++i) out.data[c + i] = lanes[i];
    }
  };
  template <class Buffers, class All, std::size_t... I>
  BAHDANAU_GLUE static All moved(Buffers& buffers, const All& all, std::size_t c, std::size_t count,
                                 std::index_sequence<I...>) {
    return All(std::get<I>(buffers).move(std::get<I>(all), c, count)...);
  }

  BAHDANAU_GLUE static void put(Store<T> out, std::size_t c, const Vector& v, const Vector&) {
    v.store(out.data + c);
  }
  template <template <class> class Output>
  BAHDANAU_GLUE static void put(Output<T> out, std::size_t c, const Vector& v, const Vector& zeros) {
    (Vector::load(out.data + c) + rounded(v, zeros)).store(out.data + c);
  }

  // A functor gives one vector, or `Values` of several.
  BAHDANAU_GLUE static const Vector& pick(const Vector& v, std::size_t) { return v; }
  template <std::size_t Count>
  BAHDANAU_GLUE static const Vector& pick(const pointwise::Values<Vector, Count>& v, std::size_t i) {
    return v.value[i];
  }

  template <class F, class All, std::size_t... Out, std::size_t... In>
  BAHDANAU_GLUE static void map_split(std::size_t n, const F& f, All all, std::index_sequence<Out...>,
                                      std::index_sequence<In...>) {
    constexpr std::size_t outputs = sizeof...(Out);
    const Vector zeros = Vector::unknown_zeros();
    const All original = all;
    std::array<Buffer, sizeof...(Out) + sizeof...(In)> buffers;
    const std::size_t whole = n / width * width;
    // The functor stands here once: what is left of a vector is done in a buffer.
    for (std::size_t c = 0, place = 0; place < n; c += width, place += width) {
      if (place == whole) {
        all = moved(buffers, original, whole, n - whole, std::make_index_sequence<outputs + sizeof...(In)>{});
        c = 0;
      }
      const auto result = f(load(std::get<outputs + In>(all), c)...);
      (put(std::get<Out>(all), c, pick(result, Out), zeros), ...);
    }
    if (whole < n) (std::get<Out>(buffers).put_back(std::get<Out>(original), whole, n - whole), ...);
  }
};

/// The lanes that row kernels get. nvcc compiles a functor for the device whoever calls it, and knows no
/// vectors there: in its files rows are computed number by number, and only products with vectors.
template <class T, class Level>
#if defined(__CUDACC__)
using RowLanes = bahdanau::detail::GroupLanes<T, bahdanau::detail::SingleThread>;
#else
using RowLanes = Lanes<T, Level>;
#endif

/// Calls a row kernel for all rows.
template <class T, class Kernel>
struct RowLoop {
  std::size_t rows;
  const Kernel& row_kernel;
  template <class Level>
  BAHDANAU_GLUE void operator()(Level) const {
    const Kernel own = row_kernel;  // whose members no store can change
    for (std::size_t row = 0; row < rows; ++row) own(RowLanes<T, Level>{}, row);
  }
};

}  // namespace bahdanau::kernel

#undef BAHDANAU_GLUE
