// The most probable columns of each row with ln softmax of their values: what decoding reads, and no more.
// Without an adjoint; training uses `cross_entropy`.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>

#include <bahdanau/autograd/ops/softmax.hpp>

namespace bahdanau {

namespace detail {

template <class T>
struct BestRow {
  const T* x;
  std::size_t cols, count;
  T* value;   // [rows, count]
  Index* id;  // [rows, count]
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t r) const {
    // Most blocks hold nothing that is among the best so far: their largest value says so.
    constexpr std::size_t block = 128;
    const T* row = x + r * cols;
    T* best = value + r * count;
    Index* best_id = id + r * count;
    std::size_t found = 0;
    T largest = std::numeric_limits<T>::lowest();
    for (std::size_t begin = 0; begin < cols; begin += block) {
      const std::size_t n = begin + block < cols ? block : cols - begin;
      const T top = lanes.max(n, pointwise::Identity{}, row + begin);
      if (top > largest) largest = top;
      if (!lanes.owns(0) || (found == count && !(top > best[count - 1]))) continue;
      for (std::size_t c = begin; c < begin + n; ++c) {
        const T v = row[c];
        if (found == count && !(v > best[count - 1])) continue;
        std::size_t place = found < count ? found++ : count - 1;
        for (; place > 0 && best[place - 1] < v; --place) {
          best[place] = best[place - 1];
          best_id[place] = best_id[place - 1];
        }
        best[place] = v;
        best_id[place] = static_cast<Index>(c);
      }
    }
    // ln softmax(x) = x - (m + ln Σ e^(x - m))
    const T total = lanes.sum(cols, pointwise::ExpMinus{}, row, largest);
    if (!lanes.owns(0)) return;
    const T shift = largest + pointwise::log(total);
    for (std::size_t i = 0; i < found; ++i) best[i] -= shift;
  }
};

}  // namespace detail

/// The best of each row, best first; of equals, the one in the lower column.
template <Backend B>
struct Best {
  Variable<B> log_probs;  // [rows, count]: ln softmax(x)
  Index* columns;         // [rows, count], on the tape
};

/// The `count` largest of each row of x [rows, cols], with ln softmax of their values, into arrays [rows,
/// count] on the device. Throws if `count` is 0 or more than there are columns.
template <Backend B>
void best_of_rows(const Variable<B>& x, std::size_t count, typename B::Scalar* log_probs, Index* columns) {
  if (count == 0 || count > x.cols())
    fail("best_of_rows", "from 1 to " + detail::text(x.cols()) + " columns", detail::text(count));
  B::for_rows(x.rows(), detail::BestRow<typename B::Scalar>{x.value, x.cols(), count, log_probs, columns});
}

/// The same in new arrays on the tape.
template <Backend B>
Best<B> best_of_rows(const Variable<B>& x, std::size_t count) {
  const Best<B> best{x.tape->constant({x.rows(), count}), x.tape->index_room(x.rows() * count)};
  best_of_rows(x, count, best.log_probs.value, best.columns);
  return best;
}

}  // namespace bahdanau
