// Weight gradients put off: the products dyᵀ x of all uses of one weight, done together at the end.
// A recurrent layer uses its weights once a step; one tall product runs several times faster than many flat
// ones.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <tuple>
#include <vector>

#include <bahdanau/autograd/arena.hpp>
#include <bahdanau/backend/backend.hpp>

namespace bahdanau {

namespace detail {

/// A piece of memory: begin <= address < end.
template <class T>
struct Place {
  const T* begin = nullptr;
  const T* end = nullptr;
  bool empty() const { return begin == end; }
};

}  // namespace detail

/// One use of a weight in `y = x Wᵀ + b`: what it adds to the gradients of W and b.
template <Backend B>
struct WeightGradient {
  using Scalar = typename B::Scalar;
  Scalar* weight = nullptr;    // dW [outputs, inputs], rows `stride` apart; or null
  Scalar* bias = nullptr;      // db [outputs], or null
  const Scalar* x = nullptr;   // [rows, inputs]
  const Scalar* dy = nullptr;  // [rows, outputs], rows `dy_stride` apart
  std::size_t rows = 0, inputs = 0, outputs = 0, stride = 0, dy_stride = 0;
  std::size_t order = 0;  // set when it is collected

  /// Whether both multiply the same part of a weight and add the same bias, so that their rows may stand in
  /// one product. Another question than who writes where: see `weight_place`.
  bool same_product(const WeightGradient& other) const {
    return weight == other.weight && bias == other.bias && inputs == other.inputs &&
           outputs == other.outputs && stride == other.stride;
  }

  /// The memory that each of the two functions below writes to.
  detail::Place<Scalar> weight_place() const {
    if (weight == nullptr || outputs == 0) return {};
    return {weight, weight + (outputs - 1) * stride + inputs};
  }
  detail::Place<Scalar> bias_place() const {
    return bias == nullptr ? detail::Place<Scalar>{} : detail::Place<Scalar>{bias, bias + outputs};
  }

  /// y = x Wᵀ + b  =>  dW += dyᵀ x, for the outputs first, ..., first + count - 1.
  void add_to_weight(std::size_t first, std::size_t count) const {
    if (weight != nullptr)
      B::gemm(Transpose::yes, Transpose::no, count, inputs, rows, Scalar(1), dy + first, dy_stride, x, inputs,
              Scalar(1), weight + first * stride, stride);
  }
  /// db += Σ_rows dy
  void add_to_bias() const {
    if (bias != nullptr) B::column_sum(rows, outputs, dy, dy_stride, bias);
  }
};

/// One use of rows of a weight, y[i] = W[index[i]]: what it adds to the gradient of W.
template <Backend B>
struct RowGradient {
  using Scalar = typename B::Scalar;
  Scalar* weight = nullptr;      // dW [table, cols]
  const Scalar* dy = nullptr;    // [rows, cols]
  const Index* index = nullptr;  // [rows], each below `table`
  std::size_t rows = 0, cols = 0, table = 0;

  /// The memory that `add` writes to: any row of dW.
  detail::Place<Scalar> weight_place() const { return {weight, weight + table * cols}; }

  /// y[i] = W[index[i]]  =>  dW[index[i]] += dy[i]
  void add() const { B::scatter_add(rows, cols, dy, index, weight); }
};

namespace detail {

/// Rows `stride` apart to rows without gaps.
template <class T>
struct CopyRow {
  T* out;
  const T* from;
  std::size_t cols, stride;
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t r) const {
    lanes.map(cols, pointwise::Identity{}, Store<T>{out + r * cols}, from + r * stride);
  }
};

/// Collects contributions. Their order is fixed by the tape alone.
template <Backend B>
class DeferredWeightGradients {
 public:
  using Scalar = typename B::Scalar;

  void add(const WeightGradient<B>& use) {
    if (use.weight == nullptr && use.bias == nullptr) return;
    uses_.push_back(use);
    uses_.back().order = uses_.size();
  }
  void add(const RowGradient<B>& use) { row_uses_.push_back(use); }
  void clear() {
    uses_.clear();
    row_uses_.clear();
  }

  /// Joins the uses of each weight to as few as possible; afterwards those of one weight lie together.
  void merge() {
    // Those of one weight in the order of the forward pass; the tape has played them backwards.
    std::sort(uses_.begin(), uses_.end(), [](const auto& a, const auto& b) {
      return std::tie(a.weight, a.bias, a.inputs, a.outputs, a.stride, b.order) <
             std::tie(b.weight, b.bias, b.inputs, b.outputs, b.stride, a.order);
    });
    scratch_.reset();
    auto kept = uses_.begin();
    for (auto first = uses_.begin(); first != uses_.end();) {
      const auto last =
          std::find_if(first, uses_.end(), [&](const auto& use) { return !first->same_product(use); });
      kept = gather(kept, join(first, last, kept));
      first = last;
    }
    uses_.erase(kept, uses_.end());
  }
  std::span<const WeightGradient<B>> uses() const { return uses_; }
  std::span<const RowGradient<B>> rows() const { return row_uses_; }

  /// Adds everything to the gradients, and forgets it.
  void flush() {
    merge();
    for (const WeightGradient<B>& use : uses()) {
      use.add_to_weight(0, use.outputs);
      use.add_to_bias();
    }
    for (const RowGradient<B>& use : rows()) use.add();
    clear();
  }

 private:
  using Uses = typename std::vector<WeightGradient<B>>::iterator;

  /// Uses that lie one behind the other in memory are one use. Writes them from `out` on; returns their end.
  static Uses join(Uses first, Uses last, Uses out) {
    WeightGradient<B> run = *first;
    for (auto use = first + 1; use != last; ++use) {
      if (use->dy_stride == run.dy_stride && use->x == run.x + run.rows * run.inputs &&
          use->dy == run.dy + run.rows * run.dy_stride) {
        run.rows += use->rows;
      } else {
        *out++ = run;
        run = *use;
      }
    }
    *out++ = run;
    return out;
  }

  /// Copies the uses of one weight together if they are many and short. Returns the end of what is left.
  Uses gather(Uses first, Uses last) {
    constexpr std::size_t long_enough = 128;  // rows that a product needs to run at full speed
    const auto count = static_cast<std::size_t>(last - first);
    std::size_t rows = 0;
    for (auto use = first; use != last; ++use) rows += use->rows;
    if (count <= 2 || rows >= count * long_enough) return last;
    Scalar* x = scratch_.allocate(rows * first->inputs);
    Scalar* dy = scratch_.allocate(rows * first->outputs);
    WeightGradient<B> all = *first;
    all.x = x;
    all.dy = dy;
    all.dy_stride = all.outputs;
    all.rows = rows;
    for (auto use = first; use != last; ++use) {
      B::copy(use->x, use->rows * use->inputs, x);
      B::for_rows(use->rows, CopyRow<Scalar>{dy, use->dy, use->outputs, use->dy_stride});
      x += use->rows * use->inputs;
      dy += use->rows * use->outputs;
    }
    *first = all;
    return first + 1;
  }

  std::vector<WeightGradient<B>> uses_;
  std::vector<RowGradient<B>> row_uses_;
  Arena<typename B::template Storage<Scalar>> scratch_;
};

}  // namespace detail
}  // namespace bahdanau
