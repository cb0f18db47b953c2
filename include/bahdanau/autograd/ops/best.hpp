// The most probable columns of each row with ln softmax of their values: what decoding reads, and no more.
// Without an adjoint; training uses `cross_entropy`.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include <bahdanau/autograd/ops/product.hpp>
#include <bahdanau/autograd/ops/softmax.hpp>

namespace bahdanau {

namespace detail {

/// Looks at some columns of each row, all of those before having been looked at already.
template <class T>
struct BestRow {
  const T* x;  // [rows, cols], rows `stride` apart
  std::size_t cols, stride;
  std::size_t first;  // number of the first column
  bool last;          // whether these are the last ones
  std::size_t count;
  T* value;    // [rows, count]
  Index* id;   // [rows, count]
  T* running;  // [rows, 2]: the largest value m so far, and Σ e^(x - m)
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t r) const {
    const T* row = x + r * stride;
    T* best = value + r * count;
    Index* best_id = id + r * count;
    std::size_t found = first < count ? first : count;
    // Most glances show nothing that is among the best so far.
    for (std::size_t begin = 0; begin < cols; begin += Lanes::glance) {
      const std::size_t end = begin + Lanes::glance < cols ? begin + Lanes::glance : cols;
      // All lanes look, and one of them keeps the list.
      const T limit = lanes.owns(0) && found == count ? best[count - 1] : std::numeric_limits<T>::lowest();
      const bool seen = lanes.any_above(end - begin, row + begin, limit);
      if (!lanes.owns(0) || (found == count && !seen)) continue;
      for (std::size_t c = begin; c < end; ++c) {
        const T v = row[c];
        if (found == count && !(v > best[count - 1])) continue;
        std::size_t place = found < count ? found++ : count - 1;
        for (; place > 0 && best[place - 1] < v; --place) {
          best[place] = best[place - 1];
          best_id[place] = best_id[place - 1];
        }
        best[place] = v;
        best_id[place] = static_cast<Index>(first + c);
      }
    }
    const T before = first == 0 ? std::numeric_limits<T>::lowest() : running[2 * r];
    const T top = lanes.max(cols, pointwise::Identity{}, row), largest = top > before ? top : before;
    T total = lanes.sum(cols, pointwise::ExpMinus{}, row, largest);
    if (!lanes.owns(0)) return;
    if (first > 0) total = std::fma(running[2 * r + 1], pointwise::exp(before - largest), total);
    running[2 * r] = largest;
    running[2 * r + 1] = total;
    if (!last) return;
    // ln softmax(x) = x - (m + ln Σ e^(x - m))
    const T shift = largest + pointwise::log(total);
    for (std::size_t i = 0; i < found; ++i) best[i] -= shift;
  }
};

/// Finds the best of rows whose columns come some at a time: [rows, count] on the device.
template <Backend B>
class BestSearch {
 public:
  using T = typename B::Scalar;

  /// How many columns to look at together, and how sums are cut: so many that their products with a weight
  /// are still in the second-level cache, and on a device all.
  static constexpr std::size_t some = SpreadingBackend<B> ? std::numeric_limits<std::size_t>::max() : 480;

  BestSearch(Tape<B>& tape, std::size_t rows, std::size_t columns, std::size_t count, T* log_probs,
             Index* ids)
      : rows_(rows), columns_(columns), count_(count), log_probs_(log_probs), ids_(ids) {
    if (count == 0 || count > columns)
      fail("best_of_rows", "from 1 to " + text(columns) + " columns", text(count));
    running_ = tape.constant({rows, 2}).value;
  }

  /// Calls look(first, count) for all columns, which gives where they lie and how far their rows are apart.
  template <class Look>
  void run(Look look) {
    for (std::size_t first = 0; first < columns_; first += std::min(some, columns_ - first)) {
      const std::size_t n = std::min(some, columns_ - first);
      const ProductRows<T> x = look(first, n);
      B::for_rows(rows_, BestRow<T>{x.data, n, x.stride, first, first + n == columns_, count_, log_probs_,
                                    ids_, running_});
    }
  }

 private:
  std::size_t rows_, columns_, count_;
  T* log_probs_;
  Index* ids_;
  T* running_;
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
  detail::BestSearch<B>(*x.tape, x.rows(), x.cols(), count, log_probs, columns)
      .run([&](std::size_t first, std::size_t) {
        return detail::ProductRows<typename B::Scalar>{x.value + first, x.rows(), x.cols()};
      });
}

/// The same in new arrays on the tape.
template <Backend B>
Best<B> best_of_rows(const Variable<B>& x, std::size_t count) {
  const Best<B> best{x.tape->constant({x.rows(), count}), x.tape->allocate_indices(x.rows() * count)};
  best_of_rows(x, count, best.log_probs.value, best.columns);
  return best;
}

/// The same for the rows of x Wᵀ + b, which need not exist at once: W [cols, inputs], b [cols]. Bit for bit
/// what `best_of_rows(linear(x, w, b), ...)` gives.
template <Backend B>
void best_of_products(const Variable<B>& x, const Variable<B>& w, const Variable<B>& b, std::size_t count,
                      typename B::Scalar* log_probs, Index* columns) {
  Tape<B>& tape = *x.tape;
  if (detail::PackedProducts<B>::packs()) {
    using Search = detail::BestSearch<B>;
    const WeightMatrix<B> matrix{w.value, x.cols(), w.rows(), w.cols(), Transpose::yes};
    const auto* packed = tape.weights().has_helpers() ? nullptr : tape.weights().packed(matrix);
    if (packed != nullptr && Search::some % detail::PackedProducts<B>::columns() == 0) {
      Search search(tape, x.rows(), w.rows(), count, log_probs, columns);
      auto* products = tape.scratch(x.rows() * std::min(Search::some, w.rows()));
      search.run([&](std::size_t first, std::size_t n) {
        detail::PackedProducts<B>::multiply(x.rows(), n, matrix.k, x.value, x.cols(),
                                            packed + first * matrix.k, b.value + first, 0, products, n);
        return detail::ProductRows<typename B::Scalar>{products, x.rows(), n};
      });
      return;
    }
  }
  best_of_rows(linear(x, w, b), count, log_probs, columns);
}

}  // namespace bahdanau
