// Maxout: the larger of each pair of neighbours in a row.
// Its gradient goes to the larger of the two, to the first where both are equal.
#pragma once

#include <cstddef>

#include <bahdanau/autograd/ops/common.hpp>

namespace bahdanau {

namespace detail {

/// y[r, j] = max(x[r, 2j], x[r, 2j + 1])
template <class T>
struct MaxoutRow {
  std::size_t cols;  // of y
  T* y;
  const T* x;
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t r) const {
    T* const out = y + r * cols;
    const T* const in = x + r * 2 * cols;
    lanes.for_columns(cols,
                      [=](std::size_t j) { out[j] = in[2 * j] < in[2 * j + 1] ? in[2 * j + 1] : in[2 * j]; });
  }
};

/// dx of the larger one += dy; the first of two that are equal.
template <class T>
struct MaxoutAdjointRow {
  std::size_t cols;
  T* dx;
  const T *x, *dy;
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t r) const {
    T* const to = dx + r * 2 * cols;
    const T *const in = x + r * 2 * cols, *const d = dy + r * cols;
    lanes.for_columns(cols, [=](std::size_t j) { to[2 * j + (in[2 * j] < in[2 * j + 1] ? 1 : 0)] += d[j]; });
  }
};

}  // namespace detail

/// y[r, j] = max(x[r, 2j], x[r, 2j + 1]): x [rows, 2 · cols], y [rows, cols].
template <Backend B>
Variable<B> maxout(const Variable<B>& x) {
  using T = typename B::Scalar;
  detail::require_made("maxout", x);
  if (x.cols() % 2 != 0) fail("maxout", "an even number of columns", x.shape.text());
  const std::size_t rows = x.rows(), cols = x.cols() / 2;
  const Variable<B> y = x.tape->variable({rows, cols});
  B::for_rows(rows, detail::MaxoutRow<T>{cols, y.value, x.value});
  x.tape->record({"maxout", {x}, {y}, {x}}, [=](Gradients<B>& d) {
    B::for_rows(rows, detail::MaxoutAdjointRow<T>{cols, d.to(x), x.value, d.of(y)});
  });
  return y;
}

}  // namespace bahdanau
