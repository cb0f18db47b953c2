// Weight gradients put off: the products dyᵀ x of all uses of one weight, done as one product at the end.
// A recurrent layer uses its weights once a step; one tall product runs several times faster than many flat
// ones.
#pragma once

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <vector>

#include <bahdanau/autograd/arena.hpp>
#include <bahdanau/backend/backend.hpp>

namespace bahdanau {

/// One use of a weight in `y = x Wᵀ + b`: what it adds to the gradients of W and b.
template <Backend B>
struct WeightGradient {
  using Scalar = typename B::Scalar;
  Scalar* weight = nullptr;    // dW [outputs, inputs], rows `stride` apart
  Scalar* bias = nullptr;      // db [outputs], or null
  const Scalar* x = nullptr;   // [rows, inputs]
  const Scalar* dy = nullptr;  // [rows, outputs]
  std::size_t rows = 0, inputs = 0, outputs = 0, stride = 0;
  std::size_t order = 0;  // set when it is collected
};

namespace detail {

/// Collects contributions and adds them weight by weight. The order is fixed by the tape alone.
template <Backend B>
class DeferredWeightGradients {
 public:
  using Scalar = typename B::Scalar;

  void add(const WeightGradient<B>& use) {
    if (use.weight == nullptr && use.bias == nullptr) return;
    uses_.push_back(use);
    uses_.back().order = uses_.size();
  }
  void clear() { uses_.clear(); }

  void flush() {
    // The uses of one weight stay in the order in which the tape played them.
    std::sort(uses_.begin(), uses_.end(), [](const auto& a, const auto& b) {
      return std::tie(a.weight, a.bias, a.order) < std::tie(b.weight, b.bias, b.order);
    });
    for (auto first = uses_.begin(); first != uses_.end();) {
      const auto last = std::find_if(first, uses_.end(), [&](const auto& use) { return !same(*first, use); });
      add_up(&*first, static_cast<std::size_t>(last - first));
      first = last;
    }
    uses_.clear();
  }

 private:
  static bool same(const WeightGradient<B>& a, const WeightGradient<B>& b) {
    return a.weight == b.weight && a.bias == b.bias && a.inputs == b.inputs && a.outputs == b.outputs &&
           a.stride == b.stride;
  }

  void add_up(const WeightGradient<B>* uses, std::size_t count) {
    WeightGradient<B> all = uses[0];
    if (count > 1) {
      for (std::size_t i = 1; i < count; ++i) all.rows += uses[i].rows;
      scratch_.reset();
      Scalar* x = scratch_.allocate(all.rows * all.inputs);
      Scalar* dy = scratch_.allocate(all.rows * all.outputs);
      all.x = x;
      all.dy = dy;
      for (std::size_t i = 0; i < count; ++i) {
        B::copy(uses[i].x, uses[i].rows * all.inputs, x);
        B::copy(uses[i].dy, uses[i].rows * all.outputs, dy);
        x += uses[i].rows * all.inputs;
        dy += uses[i].rows * all.outputs;
      }
    }
    // y = x Wᵀ + b   =>   dW += dyᵀ x,  db += Σ_rows dy
    if (all.weight != nullptr)
      B::gemm(Transpose::yes, Transpose::no, all.outputs, all.inputs, all.rows, Scalar(1), all.dy,
              all.outputs, all.x, all.inputs, Scalar(1), all.weight, all.stride);
    if (all.bias != nullptr) B::column_sum(all.rows, all.outputs, all.dy, all.bias);
  }

  std::vector<WeightGradient<B>> uses_;
  Arena<typename B::template Storage<Scalar>> scratch_;
};

}  // namespace detail
}  // namespace bahdanau
