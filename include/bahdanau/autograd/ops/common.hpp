// What the operations share: checks, and the launch of a pointwise functor over whole arrays.
// An operation takes variables of one backend; mixing two is a compile error that says so.
#pragma once

#include <cstddef>
#include <string_view>
#include <tuple>
#include <utility>

#include <bahdanau/autograd/tape.hpp>
#include <bahdanau/autograd/variable.hpp>

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

template <Backend B>
const typename B::Scalar* input(const GradientPointer<B>& gradient) {
  return gradient;
}

template <Backend A, Backend B>
void require_same_tape(std::string_view where, const Variable<A>& a, const Variable<B>& b) {
  static_assert(
      std::same_as<A, B>,
      "bahdanau: variables of different backends do not mix; build the whole model with one backend, "
      "and move arrays with value() and leaf()");
  if constexpr (std::same_as<A, B>)
    if (a.tape != b.tape) fail(where, "variables of one tape", "variables of two tapes");
}

template <Backend B>
void require_matrix(std::string_view where, std::string_view what, const Variable<B>& v) {
  if (v.shape.rank() != 2) fail(where, std::string(what) + " of rank 2", v.shape.text());
}

}  // namespace bahdanau::detail
