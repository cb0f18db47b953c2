// Which weights a pass multiplies with: collected as it is recorded, so that each loop's uses of a weight
// become one product.
#pragma once

#include <cstddef>
#include <vector>

#include <bahdanau/autograd/loop_record.hpp>
#include <bahdanau/autograd/variable.hpp>

namespace bahdanau {

/// y = x Wᵀ + b as an operation uses it: x [rows, inputs], W [outputs, inputs] with rows `stride` apart.
/// W, b or both are leaves, the other may be absent; the gradient of the product is y's in the columns from
/// `column` on.
template <Backend B>
struct WeightUse {
  Variable<B> w, b, x, y;
  std::size_t outputs = 0, stride = 0, column = 0;
};

namespace detail {

template <Backend B>
class WeightUses {
 public:
  using Scalar = typename B::Scalar;

  /// The uses of one weight that make one product.
  struct Product {
    ArrayId w = no_array, b = no_array, dy = no_array;  // of dy, that of the first step
    const Scalar *w_value = nullptr, *b_value = nullptr, *x = nullptr, *y_value = nullptr;
    std::size_t rows = 0, inputs = 0, outputs = 0, stride = 0, dy_stride = 0;
    std::uint32_t dy_slot = no_slot, loop = no_slot;
    bool of_state = false;  // x is a state: its rows are those before each step
    bool listed = false;    // and they do not lie one behind the other
  };
  struct Rows {
    ArrayId w, dy;
    const Scalar *w_value, *y_value;
    const Index* index;
    std::size_t rows, cols, table;
  };

  /// One use more: behind that of the step before, where it is the same one, else a product of its own.
  void add(const WeightUse<B>& use, std::uint32_t dy_slot, std::uint32_t loop_number, LoopRecord<B>* loop) {
    Product next{use.w.array,
                 use.b.array,
                 use.y.array,
                 use.w.value,
                 use.b.value,
                 use.x.value,
                 use.y.value + use.column,
                 use.x.rows(),
                 use.x.cols(),
                 use.outputs,
                 use.stride,
                 use.y.cols(),
                 dy_slot,
                 loop_number,
                 false,
                 false};
    if (loop != nullptr && loop->step >= 0) {
      const std::size_t k = loop->weights++;
      if (loop->step == 0) {
        next.of_state = loop->find(use.x.value, -1) != nullptr;
        loop->uses.push_back(products_.size());
      } else if (k < loop->uses.size() && extend(products_[loop->uses[k]], next, *loop)) {
        return;
      }
    }
    products_.push_back(next);
  }
  void add(const Rows& rows) { rows_.push_back(rows); }

  std::vector<Product>& products() { return products_; }
  std::vector<Rows>& rows() { return rows_; }

  void clear() {
    products_.clear();
    rows_.clear();
  }

 private:
  static bool extend(Product& all, const Product& next, const LoopRecord<B>& loop) {
    const bool same_weight = all.w == next.w && all.b == next.b && all.w_value == next.w_value &&
                             all.b_value == next.b_value && all.inputs == next.inputs &&
                             all.outputs == next.outputs && all.stride == next.stride;
    const bool same_result = all.dy_slot == no_slot ? all.dy == next.dy : all.dy_slot == next.dy_slot;
    if (!same_weight || !same_result || all.dy_stride != next.dy_stride ||
        next.y_value != all.y_value + all.rows * all.dy_stride)
      return false;
    if (all.listed || next.x != all.x + all.rows * all.inputs) {
      const auto rows = static_cast<std::size_t>(loop.row_start(loop.step - 1) - loop.row_start(-1));
      if (!all.of_state || next.x != all.x + rows * all.inputs) return false;
      all.listed = true;
    }
    all.rows += next.rows;
    return true;
  }

  std::vector<Product> products_;
  std::vector<Rows> rows_;
};

}  // namespace detail
}  // namespace bahdanau
