// A pointwise functor over whole arrays, on any backend.
// Arrays are cut into rows of a fixed length, so that a device has rows to spread.
#pragma once

#include <cstddef>
#include <tuple>
#include <utility>

#include <bahdanau/backend/backend.hpp>

namespace bahdanau::detail {

template <class T>
BAHDANAU_HOST_DEVICE Store<T> shifted(Store<T> out, std::size_t by) {
  return {out.data + by};
}
template <class T>
BAHDANAU_HOST_DEVICE Add<T> shifted(Add<T> out, std::size_t by) {
  return {out.data + by};
}
template <class T>
BAHDANAU_HOST_DEVICE const T* shifted(const T* in, std::size_t by) {
  return in + by;
}
BAHDANAU_HOST_DEVICE inline float shifted(float scalar, std::size_t) { return scalar; }
BAHDANAU_HOST_DEVICE inline double shifted(double scalar, std::size_t) { return scalar; }

/// A flat array as rows of a fixed length, so that a device has rows to spread.
template <class F, class... Arguments>
class FlatKernel {
 public:
  static constexpr std::size_t block = 4096;
  std::size_t n;
  F f;
  std::tuple<Arguments...> arguments;

  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t row) const {
    map(lanes, row * block, std::index_sequence_for<Arguments...>{});
  }

 private:
  template <class Lanes, std::size_t... I>
  BAHDANAU_HOST_DEVICE void map(Lanes lanes, std::size_t begin, std::index_sequence<I...>) const {
    lanes.map(n - begin < block ? n - begin : block, f, shifted(std::get<I>(arguments), begin)...);
  }
};

/// Applies f to n elements; arguments as for `lanes.map`.
template <Backend B, class F, class... Arguments>
void map_elements(std::size_t n, F f, Arguments... arguments) {
  using Kernel = FlatKernel<F, Arguments...>;
  B::for_rows((n + Kernel::block - 1) / Kernel::block, Kernel{n, f, std::tuple<Arguments...>(arguments...)});
}

/// `const T*` of an array that a kernel reads; the kernels tell inputs from outputs by type.
template <class T>
const T* input(const T* data) {
  return data;
}

/// to += from, for n elements.
template <Backend B>
void add_elements(std::size_t n, const typename B::Scalar* from, typename B::Scalar* to) {
  map_elements<B>(n, pointwise::Identity{}, Add<typename B::Scalar>{to}, from);
}

}  // namespace bahdanau::detail
