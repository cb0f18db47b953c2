// The gradients of weights: what all steps of a loop add to one is a single product, after the adjoints.
// One tall product runs several times faster than many flat ones.
#pragma once

#include <cstddef>

#include <bahdanau/autograd/map_elements.hpp>
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

/// What the uses of a weight in `y = x Wᵀ + b` add to the gradients of W and b.
template <Backend B>
struct WeightGradient {
  using Scalar = typename B::Scalar;
  Scalar* weight = nullptr;      // dW [outputs, inputs], rows `stride` apart; or null
  Scalar* bias = nullptr;        // db [outputs], or null
  const Scalar* x = nullptr;     // [rows, inputs]
  const Index* x_row = nullptr;  // [rows]: where the rows of x are; null: one behind the other
  const Scalar* dy = nullptr;    // [rows, outputs], rows `dy_stride` apart
  std::size_t rows = 0, inputs = 0, outputs = 0, stride = 0, dy_stride = 0;

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
    if (weight == nullptr) return;
    if (x_row == nullptr)
      B::gemm(Transpose::yes, Transpose::no, count, inputs, rows, Scalar(1), dy + first, dy_stride, x, inputs,
              Scalar(1), weight + first * stride, stride);
    else
      B::add_product_of_rows(count, inputs, rows, dy + first, dy_stride, x, inputs, x_row,
                             weight + first * stride, stride);
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

/// What adjoints have added to a parameter's gradient themselves.
template <Backend B>
struct AddedGradient {
  using Scalar = typename B::Scalar;
  Scalar* weight = nullptr;  // dW
  const Scalar* added = nullptr;
  std::size_t size = 0;

  detail::Place<Scalar> weight_place() const { return {weight, weight + size}; }
  void add() const { detail::add_elements<B>(size, added, weight); }
};

}  // namespace bahdanau
