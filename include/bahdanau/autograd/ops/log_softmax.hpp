// ln softmax of each row, in place and without an adjoint: what decoding reads.
// Training uses `cross_entropy`, which never needs the whole row of logarithms.
#pragma once

#include <cstddef>

#include <bahdanau/autograd/ops/softmax.hpp>

namespace bahdanau {

namespace detail {

template <class T>
struct LogSoftmaxRow {
  T* x;
  std::size_t cols;
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t r) const {
    T* row = x + r * cols;
    const T* in = row;
    const T largest = lanes.max(cols, pointwise::Identity{}, in);
    // ln softmax(x) = x - (m + ln Σ e^(x - m))
    const T total = lanes.sum(cols, pointwise::ExpMinus{}, in, largest);
    lanes.map(cols, pointwise::Minus{}, Store<T>{row}, in, largest + pointwise::log(total));
  }
};

}  // namespace detail

/// x[r, :] becomes ln softmax(x[r, :]). Throws for a variable with a gradient: none would come back.
template <Backend B>
void log_softmax_in_place(const Variable<B>& x) {
  if (x.gradient != nullptr)
    fail("log_softmax_in_place", "a variable without a gradient", "one with a gradient");
  B::for_rows(x.rows(), detail::LogSoftmaxRow<typename B::Scalar>{x.value, x.cols()});
}

}  // namespace bahdanau
