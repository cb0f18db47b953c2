// The lanes of a row whose columns a group of threads shares: what a device runs the kernels with.
// A group of one thread is an ordinary loop; a group of many needs sums and maxima over its threads.
#pragma once

#include <concepts>
#include <cstddef>
#include <limits>
#include <tuple>
#include <utility>

#include <bahdanau/core/device.hpp>
#include <bahdanau/kernel/output.hpp>
#include <bahdanau/kernel/pointwise.hpp>

namespace bahdanau::detail {

/// A group of one, whose rows do not meet those of others.
struct SingleThread {
  static constexpr std::size_t rank() { return 0; }
  static constexpr std::size_t size() { return 1; }
  template <class T>
  BAHDANAU_HOST_DEVICE static T sum(T value) {
    return value;
  }
  template <class T>
  BAHDANAU_HOST_DEVICE static T max(T value) {
    return value;
  }
  template <class T>
  BAHDANAU_HOST_DEVICE static void add_shared(T* place, T value) {
    *place += value;
  }
};

/// The lanes of one thread of a group; see point 5 of the Backend contract.
///
/// A `Group` has `rank()` and `size()`; `sum(x)` and `max(x)` over the values of all its threads, which call
/// them together; and `add_shared(place, x)` for a place that other rows add to at the same time. Column c
/// belongs to thread c mod size, in every loop: so a thread reads back only what it wrote itself.
template <class T, class Group>
class GroupLanes {
 public:
  BAHDANAU_HOST_DEVICE explicit GroupLanes(Group group = {}) : group_(group) {}

  /// Applies f to n columns. Arguments: the outputs (`Store`, `Add`, `AddShared`), then the inputs.
  template <class F, class... Arguments>
  BAHDANAU_HOST_DEVICE void map(std::size_t n, F f, Arguments... arguments) const {
    constexpr std::size_t outputs = (std::size_t{is_output<Arguments>} + ...);
    map_split(n, f, std::tuple<Arguments...>(arguments...), std::make_index_sequence<outputs>{},
              std::make_index_sequence<sizeof...(Arguments) - outputs>{});
  }

  /// Sum of f over n columns.
  template <class F, class... Inputs>
  BAHDANAU_HOST_DEVICE T sum(std::size_t n, F f, Inputs... inputs) const {
    T total(0);
    for_columns(n, [&](std::size_t c) { total += f(load(inputs, c)...); });
    return group_.sum(total);
  }

  /// Largest value of f over n columns; n must not be 0.
  template <class F, class... Inputs>
  BAHDANAU_HOST_DEVICE T max(std::size_t n, F f, Inputs... inputs) const {
    T best = std::numeric_limits<T>::lowest();
    for_columns(n, [&](std::size_t c) {
      const T value = f(load(inputs, c)...);
      if (best < value) best = value;
    });
    return group_.max(best);
  }

  /// Whether one of n values is above the limit; quick for `glance` of them.
  static constexpr std::size_t glance = 128;
  BAHDANAU_HOST_DEVICE bool any_above(std::size_t n, const T* x, T limit) const {
    return max(n, pointwise::Identity{}, x) > limit;
  }

  /// Whether this thread works on column c.
  BAHDANAU_HOST_DEVICE bool owns(std::size_t c) const { return c % group_.size() == group_.rank(); }

  /// Calls f(c) for this thread's columns among n.
  template <class F>
  BAHDANAU_HOST_DEVICE void for_columns(std::size_t n, F f) const {
    for (std::size_t c = group_.rank(); c < n; c += group_.size()) f(c);
  }
  BAHDANAU_HOST_DEVICE const Group& group() const { return group_; }

 private:
  template <class A>
  static constexpr bool is_output =
      std::same_as<A, Store<T>> || std::same_as<A, Add<T>> || std::same_as<A, AddShared<T>>;

  BAHDANAU_HOST_DEVICE static T load(const T* data, std::size_t c) { return data[c]; }
  BAHDANAU_HOST_DEVICE static T load(T scalar, std::size_t) { return scalar; }

  BAHDANAU_HOST_DEVICE void put(Store<T> out, std::size_t c, T value) const { out.data[c] = value; }
  BAHDANAU_HOST_DEVICE void put(Add<T> out, std::size_t c, T value) const { out.data[c] += value; }
  BAHDANAU_HOST_DEVICE void put(AddShared<T> out, std::size_t c, T value) const {
    group_.add_shared(out.data + c, value);
  }

  // A functor gives one value, or `Values` of several.
  BAHDANAU_HOST_DEVICE static T pick(T value, std::size_t) { return value; }
  template <std::size_t Count>
  BAHDANAU_HOST_DEVICE static T pick(const pointwise::Values<T, Count>& values, std::size_t i) {
    return values.value[i];
  }

  template <class F, class All, std::size_t... Out, std::size_t... In>
  BAHDANAU_HOST_DEVICE void map_split(std::size_t n, const F& f, const All& all, std::index_sequence<Out...>,
                                      std::index_sequence<In...>) const {
    constexpr std::size_t first = sizeof...(Out);
    for_columns(n, [&](std::size_t c) {
      const auto result = f(load(std::get<first + In>(all), c)...);
      (put(std::get<Out>(all), c, pick(result, Out)), ...);
    });
  }

  Group group_;
};

}  // namespace bahdanau::detail
