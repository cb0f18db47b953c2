// The kernels that the Backend contract itself asks for: sums, scattered rows, tables.
// Those of the operations stand beside the operations.
#pragma once

#include <cstddef>

#include <bahdanau/backend/backend.hpp>
#include <bahdanau/core/device.hpp>

namespace bahdanau::detail {

/// Σ f(x) of one part of an array, in double.
template <class T, class F>
struct PartialSum {
  static constexpr std::size_t part = std::size_t{1} << 16U;
  const T* x;
  std::size_t n;
  double* out;
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t row) const {
    const T* first = x + row * part;
    const std::size_t count = n - row * part < part ? n - row * part : part;
    double total = 0;
    lanes.for_columns(count, [&](std::size_t c) { total += F{}(static_cast<double>(first[c])); });
    total = lanes.group().sum(total);
    if (lanes.owns(0)) out[row] = total;
  }
};
struct Square {
  BAHDANAU_HOST_DEVICE double operator()(double x) const { return x * x; }
};

/// out[c] += Σ x[r, c] over some of the rows.
template <class T>
struct ColumnSum {
  static constexpr std::size_t part = 64;  // rows
  const T* x;
  std::size_t rows, cols, stride;
  T* out;
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t row) const {
    const std::size_t begin = row * part, end = rows - begin < part ? rows : begin + part;
    lanes.for_columns(cols, [&](std::size_t c) {
      T total(0);
      for (std::size_t r = begin; r < end; ++r) total += x[r * stride + c];
      lanes.group().add_shared(out + c, total);
    });
  }
};

template <class T>
struct ScatterAdd {
  const T* x;
  const Index* index;
  std::size_t cols;
  T* out;
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t row) const {
    lanes.map(cols, pointwise::Identity{}, AddShared<T>{out + static_cast<std::size_t>(index[row]) * cols},
              x + row * cols);
  }
};

/// out[r] = b[rows[r]], of which rows are `stride` apart.
template <class T>
struct GatherRows {
  const T* b;
  std::size_t stride;
  const Index* rows;
  std::size_t cols;
  T* out;
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t row) const {
    lanes.map(cols, pointwise::Identity{}, Store<T>{out + row * cols},
              b + static_cast<std::size_t>(rows[row]) * stride);
  }
};

template <class T, class F>
struct TableEntry {
  F f;
  std::size_t cols;
  BAHDANAU_HOST_DEVICE T operator()(std::size_t i) const { return static_cast<T>(f(i / cols, i % cols)); }
};

}  // namespace bahdanau::detail
