// Reductions: of a whole array to one element, of each row, of each column.
// Their adjoints spread a gradient back over what was summed.
#pragma once

#include <cstddef>

#include <bahdanau/autograd/ops/common.hpp>
#include <bahdanau/autograd/ops/shape.hpp>

namespace bahdanau {

namespace detail {

template <class T>
struct RowSum {
  T* out;
  const T* x;
  std::size_t cols;
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t r) const {
    const T total = lanes.sum(cols, pointwise::Identity{}, x + r * cols);
    if (lanes.owns(0)) out[r] = total;
  }
};

/// dx[r, :] += dy[r]: one value for a row.
template <class T>
struct SpreadRow {
  T* dx;
  const T* dy;
  std::size_t cols;
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t r) const {
    lanes.map(cols, pointwise::Identity{}, Add<T>{dx + r * cols}, dy[r]);
  }
};

}  // namespace detail

/// Sums over the columns, one for each row: y[r] = Σ_c x[r, c], x [rows, cols], y [rows].
template <Backend B>
Variable<B> sum_columns(const Variable<B>& x) {
  using T = typename B::Scalar;
  detail::require_made("sum_columns", x);
  const Variable<B> y = x.tape->variable({x.rows()});
  B::for_rows(x.rows(), detail::RowSum<T>{y.value, x.value, x.cols()});
  x.tape->record({"sum_columns", {x}, {y}}, [=](Gradients<B>& d) {
    B::for_rows(x.rows(), detail::SpreadRow<T>{d.to(x), d.of(y), x.cols()});
  });
  return y;
}

/// Sums over the rows, one for each column: y[c] = Σ_r x[r, c], x [rows, cols], y [cols].
template <Backend B>
Variable<B> sum_rows(const Variable<B>& x) {
  using T = typename B::Scalar;
  detail::require_made("sum_rows", x);
  const Variable<B> y = x.tape->variable({x.cols()});
  B::fill(y.value, y.size(), T(0));
  B::column_sum(x.rows(), x.cols(), x.value, x.cols(), y.value);
  x.tape->record({"sum_rows", {x}, {y}}, [=](Gradients<B>& d) {
    // y[c] = Σ_r x[r, c]  =>  dx[r, :] += dy
    B::for_rows(x.rows(), detail::ColumnsRow<Add, T>{d.to(x), d.of(y), x.cols(), x.cols(), 0});
  });
  return y;
}

/// y = Σ x over all elements, of shape [1].
template <Backend B>
Variable<B> sum(const Variable<B>& x) {
  return sum_columns(x.reshape({1, x.size()}));
}

/// y = Σ x / n, of shape [1].
template <Backend B>
Variable<B> mean(const Variable<B>& x) {
  using T = typename B::Scalar;
  return (T(1) / static_cast<T>(x.size())) * sum(x);
}

}  // namespace bahdanau
