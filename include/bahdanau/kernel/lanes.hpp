// The loops over the columns of one row, in vectors: what a row kernel is called with on the CPU.
// Sums have the same order at every level, and a row's tail runs the code of its body.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <limits>
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
#define BAHDANAU_FLATTEN [[gnu::always_inline, gnu::flatten]]
#else
#define BAHDANAU_FLATTEN
#endif

namespace bahdanau::kernel {

/// The loops over one row's columns, a vector at a time; see point 5 of the Backend contract.
///
/// Written to be compiled often, once for each functor and level: arguments lie in arrays rather than in
/// tuples, and the functor, which may be large, stands once in each loop.
template <class T, class Level>
class Lanes {
  using Vector = typename Level::template Vector<T>;
  static constexpr std::size_t width = Vector::size;
  // Sums and largest values are taken over 64 bytes of lanes, as one vector or as several parts, so that they
  // have the same order at every level.
  static constexpr std::size_t lanes_of_sum = 64 / sizeof(T), parts = lanes_of_sum / width;

 public:
  /// Applies f to n columns. Arguments: the outputs (`Store`, `Add`, `AddShared`), then the inputs.
  template <class F, class... Arguments>
  BAHDANAU_FLATTEN void map(std::size_t n, F f, Arguments... arguments) const {
    constexpr std::size_t outputs =
        (std::size_t{kind<Arguments> == Argument::store || kind<Arguments> == Argument::add} + ...);
    map_columns(n, f, {place(arguments)...}, {number(arguments)...}, ArgumentList<kind<Arguments>...>{},
                std::make_index_sequence<outputs>{},
                std::make_index_sequence<sizeof...(Arguments) - outputs>{});
  }

  /// Sum of f over n columns.
  template <class F, class... Inputs>
  BAHDANAU_FLATTEN T sum(std::size_t n, F f, Inputs... inputs) const {
    return reduce<Sum>(n, f, {place(inputs)...}, {number(inputs)...}, ArgumentList<kind<Inputs>...>{},
                       std::index_sequence_for<Inputs...>{});
  }

  /// Largest value of f over n columns; n must not be 0.
  template <class F, class... Inputs>
  BAHDANAU_FLATTEN T max(std::size_t n, F f, Inputs... inputs) const {
    return reduce<Largest>(n, f, {place(inputs)...}, {number(inputs)...}, ArgumentList<kind<Inputs>...>{},
                           std::index_sequence_for<Inputs...>{});
  }

  /// Whether one of n values is above the limit; quick for `glance` of them.
  static constexpr std::size_t glance = 4 * width;
  BAHDANAU_FLATTEN bool any_above(std::size_t n, const T* x, T limit) const {
    const Vector bound(limit);
    // The largest of four vectors, and one comparison: g++ takes a union of comparisons apart, lane by lane.
    const auto larger = [&](std::size_t at, const Vector& than) {
      const Vector v = Vector::load(x + at);
      return select(v > than, v, than);  // not NaN
    };
    std::size_t c = 0;
    for (; c + glance <= n; c += glance) {
      const Vector a = larger(c + 2 * width, larger(c, bound)),
                   b = larger(c + 3 * width, larger(c + width, bound));
      if (any(select(b > a, b, a) > bound)) return true;
    }
    for (; c < n; ++c)
      if (x[c] > limit) return true;
    return false;
  }

  /// Calls f(c) for the columns of n that this call works on: on the CPU for all of them, in order.
  template <class F>
  BAHDANAU_FLATTEN void for_columns(std::size_t n, F f) const {
    for (std::size_t c = 0; c < n; ++c) f(c);
  }

  /// Whether this call works on column c; on the CPU one call works on all of them.
  constexpr bool owns(std::size_t) const { return true; }

 private:
  // What an argument is.
  enum class Argument { store, add, column, scalar };
  template <Argument...>
  struct ArgumentList {};
  template <class A>
  static constexpr Argument kind = std::same_as<A, Store<T>> ? Argument::store
                                   : std::same_as<A, Add<T>> || std::same_as<A, AddShared<T>> ? Argument::add
                                   : std::is_pointer_v<A> ? Argument::column
                                                          : Argument::scalar;
  // Where it lies, of inputs also without const, as all lie in one array; or its number.
  template <class A>
  static T* place(const A& argument) {
    if constexpr (kind<A> == Argument::scalar)
      return nullptr;
    else if constexpr (kind<A> == Argument::column)
      return const_cast<T*>(static_cast<const T*>(argument));
    else
      return argument.data;
  }
  template <class A>
  static T number(const A& argument) {
    if constexpr (kind<A> == Argument::scalar)
      return static_cast<T>(argument);
    else
      return T(0);
  }

  template <Argument A>
  BAHDANAU_FLATTEN static Vector load(const T* place, T number, std::size_t c) {
    if constexpr (A == Argument::scalar)
      return Vector(number);
    else
      return Vector::load(place + c);
  }
  template <Argument A>
  BAHDANAU_FLATTEN static void put(T* to, const Vector& v, const Vector& zeros) {
    if constexpr (A == Argument::store)
      v.store(to);
    else
      (Vector::load(to) + rounded(v, zeros)).store(to);
  }
  // A functor gives one vector, or `Values` of several.
  BAHDANAU_FLATTEN static const Vector& pick(const Vector& v, std::size_t) { return v; }
  template <std::size_t Count>
  BAHDANAU_FLATTEN static const Vector& pick(const pointwise::Values<Vector, Count>& v, std::size_t i) {
    return v.value[i];
  }

  /// Moves the last columns of an argument into a buffer that is as long as vectors are. It is filled up with
  /// 1: a value that no formula divides by or overflows on.
  template <Argument A, std::size_t Size>
  BAHDANAU_FLATTEN static void fetch(T*& place, T (&buffer)[Size], std::size_t c, std::size_t count) {
    if constexpr (A == Argument::scalar) return;
    for (std::size_t i = 0; i < Size; ++i)
      buffer[i] = A != Argument::column ? T(-0.0) /* which is added to */
                  : i < count           ? place[c + i]
                                        : T(1);
    place = buffer;
  }
  // Added here and not in the buffer: two outputs may have the same place.
  template <Argument A>
  BAHDANAU_FLATTEN static void put_back(T* to, const T* buffer, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      if constexpr (A == Argument::store)
        to[i] = buffer[i];
      else
        to[i] += buffer[i];
  }

  template <class F, std::size_t Count, Argument... All, std::size_t... Out, std::size_t... In>
  BAHDANAU_FLATTEN static void map_columns(std::size_t n, const F& f, T* const (&arguments)[Count],
                                           const T (&numbers)[Count], ArgumentList<All...>,
                                           std::index_sequence<Out...>, std::index_sequence<In...>) {
    constexpr std::size_t outputs = sizeof...(Out);
    constexpr Argument kinds[] = {All...};
    const Vector zeros = Vector::opaque_zeros();
    T* places[] = {arguments[Out]..., arguments[outputs + In]...};
    alignas(64) T buffers[Count][width];
    const std::size_t whole = n / width * width;
    // What is left of a vector is done in buffers.
    for (std::size_t c = 0, done = 0; done < n; c += width, done += width) {
      if (done == whole) {
        (fetch<kinds[Out]>(places[Out], buffers[Out], whole, n - whole), ...);
        (fetch<kinds[outputs + In]>(places[outputs + In], buffers[outputs + In], whole, n - whole), ...);
        c = 0;
      }
      const auto result = f(load<kinds[outputs + In]>(places[outputs + In], numbers[outputs + In], c)...);
      (put<kinds[Out]>(places[Out] + c, pick(result, Out), zeros), ...);
    }
    if (whole < n) (put_back<kinds[Out]>(arguments[Out] + whole, buffers[Out], n - whole), ...);
  }

  /// How a row is made one number.
  struct Sum {
    static constexpr T start = T(0);
    BAHDANAU_FLATTEN static Vector combined(const Vector& a, const Vector& b, const Vector& zeros) {
      return a + rounded(b, zeros);
    }
    static T combined(T a, T b) { return a + b; }
  };
  struct Largest {
    static constexpr T start = std::numeric_limits<T>::lowest();
    BAHDANAU_FLATTEN static Vector combined(const Vector& a, const Vector& b, const Vector&) {
      return select(b > a, b, a);  // not NaN
    }
    static T combined(T a, T b) { return std::max(a, b); }
  };

  /// Whether a functor takes so little that sums wait for their additions: these have two chains.
  template <class F>
  static constexpr bool is_light = std::same_as<F, pointwise::Identity> || std::same_as<F, pointwise::Times>;

  /// Combines f of all columns, lane by lane and then the lanes.
  template <class Reduction, class F, std::size_t Count, Argument... All, std::size_t... In>
  BAHDANAU_FLATTEN static T reduce(std::size_t n, const F& f, T* const (&arguments)[Count],
                                   const T (&numbers)[Count], ArgumentList<All...>,
                                   std::index_sequence<In...>) {
    constexpr std::size_t step = lanes_of_sum;
    const Vector zeros = Vector::opaque_zeros();
    T* places[] = {arguments[In]...};
    Vector even[parts], odd[parts];
    for (std::size_t p = 0; p < parts; ++p) even[p] = odd[p] = Vector(Reduction::start);
    std::size_t c = 0;
    if constexpr (is_light<F>)
      for (; c + 2 * step <= n; c += 2 * step)
        for (std::size_t p = 0; p < parts; ++p) {
          even[p] =
              Reduction::combined(even[p], f(load<All>(places[In], numbers[In], c + p * width)...), zeros);
          odd[p] = Reduction::combined(odd[p], f(load<All>(places[In], numbers[In], c + step + p * width)...),
                                       zeros);
        }
    // The last columns come from buffers, and lanes without a column are put back afterwards.
    alignas(64) T lanes[step], before[step], buffers[Count][step];
    std::size_t count = step;
    for (; c < n; c += step) {
      if (n - c < step) {
        count = n - c;
        for (std::size_t p = 0; p < parts; ++p) even[p].store(before + p * width);
        (fetch<All>(places[In], buffers[In], c, count), ...);
        c = n = 0;  // which ends the loop
      }
      for (std::size_t p = 0; p < parts; ++p)
        even[p] =
            Reduction::combined(even[p], f(load<All>(places[In], numbers[In], c + p * width)...), zeros);
    }
    for (std::size_t p = 0; p < parts; ++p) even[p].store(lanes + p * width);
    for (std::size_t lane = count; lane < step; ++lane) lanes[lane] = before[lane];
    if constexpr (is_light<F>)
      for (std::size_t p = 0; p < parts; ++p)
        Reduction::combined(Vector::load(lanes + p * width), odd[p], zeros).store(lanes + p * width);
    // The upper half onto the lower one, until one lane is left: fewer steps that wait for one another.
    for (std::size_t half = step / 2; half > 0; half /= 2)
      for (std::size_t lane = 0; lane < half; ++lane)
        lanes[lane] = Reduction::combined(lanes[lane], lanes[lane + half]);
    return lanes[0];
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
  BAHDANAU_FLATTEN void operator()(Level) const {
    const Kernel own = row_kernel;  // whose members no store can change
    for (std::size_t row = 0; row < rows; ++row) own(RowLanes<T, Level>{}, row);
  }
};

}  // namespace bahdanau::kernel

#undef BAHDANAU_FLATTEN
