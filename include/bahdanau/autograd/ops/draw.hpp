// One column of each row, drawn with the probabilities that the softmax of the row says.
// Without an adjoint: no gradient flows through what was drawn.
#pragma once

#include <cstddef>

#include <bahdanau/autograd/ops/softmax.hpp>

namespace bahdanau {

namespace detail {

/// The column at which Σ e^(x - m), summed from the left, passes the given share of the whole sum.
template <class T>
struct DrawRow {
  const T* x;  // [rows, cols]
  std::size_t cols;
  const T* share;  // [rows], each from 0 up to, not including, 1
  Index* id;       // [rows]
  static constexpr std::size_t block = 64;

  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t r) const {
    const T* row = x + r * cols;
    const T largest = lanes.max(cols, pointwise::Identity{}, row);
    T total = 0;
    for (std::size_t begin = 0; begin < cols; begin += block)
      total += lanes.sum(width(begin), pointwise::ExpMinus{}, row + begin, largest);
    // All lanes look for the block in which the sum passes the limit, and one of them for the column.
    const T limit = share[r] * total;
    T below = 0;
    std::size_t begin = 0;
    for (; begin + block < cols; begin += block) {
      const T sum = lanes.sum(block, pointwise::ExpMinus{}, row + begin, largest);
      if (below + sum > limit) break;
      below += sum;
    }
    if (!lanes.owns(0)) return;
    // Where rounding keeps the sum below the limit, the last column that has a probability.
    std::size_t chosen = begin;
    for (std::size_t c = begin; c < begin + width(begin) && !(below > limit); ++c) {
      const T weight = pointwise::exp(row[c] - largest);
      if (weight > T(0)) chosen = c;
      below += weight;
    }
    id[r] = static_cast<Index>(chosen);
  }

 private:
  BAHDANAU_HOST_DEVICE std::size_t width(std::size_t begin) const {
    return cols - begin < block ? cols - begin : block;
  }
};

}  // namespace detail

/// A column of each row of x [rows, cols], drawn with the probabilities softmax(x): the one at which they,
/// summed from the left, pass `shares` [rows], each uniform in [0, 1). All arrays are on the device.
template <Backend B>
void draw_of_rows(const Variable<B>& x, const Variable<B>& shares, Index* columns) {
  using T = typename B::Scalar;
  detail::require_same_tape("draw_of_rows", x, shares);
  detail::require_equal("draw_of_rows", "shares, one per row:", x.rows(), shares.size());
  if (x.cols() == 0) fail("draw_of_rows", "at least one column", x.shape.text());
  B::for_rows(x.rows(), detail::DrawRow<T>{x.value, x.cols(), shares.value, columns});
}

}  // namespace bahdanau
