// Which weights a pass multiplies with: collected as it is recorded, so that each loop's uses of a weight
// become one product.
#pragma once

#include <cstddef>
#include <vector>

#include <bahdanau/autograd/bound_weights.hpp>
#include <bahdanau/autograd/index_lists.hpp>
#include <bahdanau/autograd/loop_arrays.hpp>
#include <bahdanau/autograd/variable.hpp>
#include <bahdanau/autograd/weight_gradient.hpp>

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

/// What the weights' gradients are the sum of, in the order of the forward pass.
template <Backend B>
struct WeightSums {
  std::vector<WeightGradient<B>> products;
  std::vector<RowGradient<B>> rows;
  std::vector<AddedGradient<B>> added;

  void add() const {
    for (const WeightGradient<B>& product : products) {
      product.add_to_weight(0, product.outputs);
      product.add_to_bias();
    }
    for (const RowGradient<B>& some : rows) some.add();
    for (const AddedGradient<B>& some : added) some.add();
  }
};

template <Backend B>
class WeightUses {
 public:
  using Scalar = typename B::Scalar;

  /// The uses of one weight that make one product: one, or one of each step of a loop.
  struct Product {
    ArrayId w = no_array, b = no_array;
    const Scalar *w_value = nullptr, *b_value = nullptr;
    std::size_t inputs = 0, outputs = 0, stride = 0, dy_stride = 0;
    std::size_t rows = 0, first_part = 0, last_part = 0;
    std::uint32_t dy_slot = no_slot, loop = no_slot;
    bool of_state = false;  // x is a state: its rows are those before each step
    bool listed = false;    // and they do not lie one behind the other
  };
  /// One of them.
  struct Part {
    ArrayId dy;
    const Scalar *x, *y_value;
    std::size_t rows, next;
  };
  struct Rows {
    ArrayId w, dy;
    const Scalar *w_value, *y_value;
    const Index* index;
    std::size_t rows, cols, table;
  };

  /// One use more: behind that of the step before, where it is the same one, else a product of its own.
  void add(const WeightUse<B>& use, std::uint32_t dy_slot, LoopRecord<B>* loop) {
    const std::size_t part = parts_.size();
    parts_.push_back({use.y.array, use.x.value, use.y.value + use.column, use.x.rows(), none});
    Product next{use.w.array,
                 use.b.array,
                 use.w.value,
                 use.b.value,
                 use.x.cols(),
                 use.outputs,
                 use.stride,
                 use.y.cols(),
                 use.x.rows(),
                 part,
                 part,
                 dy_slot,
                 loop != nullptr ? loop->number : no_slot};
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

  /// Where all of it lies, once the adjoints were played.
  void find(Arrays<B>& arrays, const BoundWeights<B>& weights, Loops<B>& loops, IndexLists<B>& lists,
            WeightSums<B>& sums) {
    const auto place = [&](ArrayId id, const Scalar* value) -> Scalar* {
      if (id == no_array) return nullptr;
      if (arrays[id].parameter) return weights.gradient_place(value);
      return arrays.gradient(id) + (value - arrays[id].value);
    };
    sums.products.clear();
    sums.rows.clear();
    const auto dy_of = [&](const Part& p) { return arrays.place(p.dy) + (p.y_value - arrays[p.dy].value); };
    for (const Product& p : products_) {
      WeightGradient<B> all{place(p.w, p.w_value),
                            place(p.b, p.b_value),
                            parts_[p.first_part].x,
                            p.listed ? state_rows(loops[p.loop], lists) : nullptr,
                            dy_of(parts_[p.first_part]),
                            p.rows,
                            p.inputs,
                            p.outputs,
                            p.stride,
                            p.dy_stride};
      if (in_one_piece(p, dy_of)) {
        sums.products.push_back(all);
        continue;
      }
      for (std::size_t i = p.first_part; i != none; i = parts_[i].next) {
        all.x = parts_[i].x;
        all.x_row = nullptr;
        all.dy = dy_of(parts_[i]);
        all.rows = parts_[i].rows;
        sums.products.push_back(all);
      }
    }
    for (const Rows& r : rows_)
      sums.rows.push_back({place(r.w, r.w_value), arrays.gradient(r.dy) + (r.y_value - arrays[r.dy].value),
                           r.index, r.rows, r.cols, r.table});
  }

  void clear() {
    products_.clear();
    parts_.clear();
    rows_.clear();
  }

 private:
  static constexpr std::size_t none = ~std::size_t{0};

  bool extend(Product& all, const Product& next, const LoopRecord<B>& loop) {
    const Part &first = parts_[all.first_part], &part = parts_[next.first_part];
    const bool same_weight = all.w == next.w && all.b == next.b && all.w_value == next.w_value &&
                             all.b_value == next.b_value && all.inputs == next.inputs &&
                             all.outputs == next.outputs && all.stride == next.stride;
    const bool same_result = all.dy_slot == no_slot ? first.dy == part.dy : all.dy_slot == next.dy_slot;
    if (!same_weight || !same_result || all.dy_stride != next.dy_stride ||
        part.y_value != first.y_value + all.rows * all.dy_stride)
      return false;
    if (all.listed || part.x != first.x + all.rows * all.inputs) {
      // The list has all rows of all steps.
      const auto step = static_cast<std::size_t>(loop.step);
      const auto rows = static_cast<std::size_t>(loop.row_start(loop.step - 1) - loop.row_start(-1));
      if (!all.of_state || part.x != first.x + rows * all.inputs || all.rows != loop.rows.start(step) ||
          next.rows != loop.rows.count(step))
        return false;
      all.listed = true;
    }
    all.rows += next.rows;
    all.last_part = parts_[all.last_part].next = next.first_part;
    return true;
  }

  /// Whether the gradients of all steps lie one behind the other. Not so where those of some steps lie in the
  /// place of their values, and others do not.
  template <class Place>
  bool in_one_piece(const Product& product, Place dy_of) const {
    const Scalar* expected = dy_of(parts_[product.first_part]);
    for (std::size_t i = product.first_part; i != none; i = parts_[i].next) {
      if (dy_of(parts_[i]) != expected) return false;
      expected += parts_[i].rows * product.dy_stride;
    }
    return true;
  }

  const Index* state_rows(LoopRecord<B>& loop, IndexLists<B>& lists) {
    if (loop.state_rows == nullptr) {
      host_.clear();
      add_state_rows(loop.rows, host_);
      loop.state_rows = lists.keep(host_);
    }
    return loop.state_rows;
  }

  std::vector<Product> products_;
  std::vector<Part> parts_;
  std::vector<Rows> rows_;
  std::vector<Index> host_;
};

}  // namespace detail
}  // namespace bahdanau
