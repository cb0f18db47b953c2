// What convolutions over ragged sequences are made of: the windows of all rows, and tanh of a sum.
// conv(x) is `linear(windows<width>(x, sequences), W, b)`: one product over all rows, W as nn.Conv1d has it.
#pragma once

#include <cstddef>

#include <bahdanau/autograd/ops/common.hpp>

namespace bahdanau {

/// Which rows of an array belong together: row r to a sequence of the rows begin[r], ..., end[r] - 1. Both
/// lists are on the tape (`Tape::keep`), one number per row, and were checked by the caller.
struct SequenceBounds {
  const Index *begin = nullptr, *end = nullptr;
};

namespace pointwise {

struct TanhSum {
  template <class V>
  BAHDANAU_HOST_DEVICE V operator()(V a, V b) const {
    return pointwise::tanh(a + b);
  }
};
/// From y = tanh(a + b) and dy: the gradients of a and of b.
struct TanhSumAdjoint {
  template <class V>
  BAHDANAU_HOST_DEVICE Values<V, 2> operator()(V y, V dy) const {
    const V d = dy * pointwise::multiply_add(-y, y, V(1));
    return {{d, d}};
  }
};

}  // namespace pointwise

namespace detail {

/// The rows that the window of row r has of its sequence: those of columns first, ..., last - 1.
template <std::size_t Width>
struct Window {
  static constexpr std::size_t half = Width / 2;
  std::size_t first, last;

  BAHDANAU_HOST_DEVICE Window(const SequenceBounds& sequences, std::size_t r) {
    const std::size_t before = r - static_cast<std::size_t>(sequences.begin[r]);
    const std::size_t from = static_cast<std::size_t>(sequences.end[r]) - r;
    first = before + 1 <= half ? half - before : 0;  // nvcc refuses `before < half` where half is 0
    last = from > half ? Width : half + from;
  }
  BAHDANAU_HOST_DEVICE bool whole() const { return first == 0 && last == Width; }
};

/// y[r, c · Width + k] = x[r + k - half, c], and 0 beyond the sequence's ends.
template <std::size_t Width, class T>
struct WindowsRow {
  SequenceBounds sequences;
  std::size_t cols;  // of x
  T* y;
  const T* x;
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t r) const {
    const Window<Width> window(sequences, r);
    const std::size_t stride = cols;
    T* const out = y + r * cols * Width;
    const T* const in = x + (r + window.first - window.half) * cols;
    if (window.whole())
      lanes.for_columns(cols, [=](std::size_t c) {
        for (std::size_t k = 0; k < Width; ++k) out[c * Width + k] = in[k * stride + c];
      });
    else
      lanes.for_columns(cols, [=](std::size_t c) {
        for (std::size_t k = 0; k < Width; ++k)
          out[c * Width + k] =
              k < window.first || k >= window.last ? T(0) : in[(k - window.first) * stride + c];
      });
  }
};

/// dx[r, c] += Σ_k dy[r - k + half, c · Width + k] over the windows that have row r: each row of dx is
/// written by one call, so that rows may run side by side.
template <std::size_t Width, class T>
struct WindowsAdjointRow {
  SequenceBounds sequences;
  std::size_t cols;
  T* dx;
  const T* dy;
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t r) const {
    // Row r is column k of the window of row r + half - k: j = Width - 1 - k counts those as its own
    // window's.
    const Window<Width> window(sequences, r);
    const std::size_t stride = cols * Width;
    T* const to = dx + r * cols;
    const T* const from = dy + (r + window.first - window.half) * stride;
    if (window.whole())
      lanes.for_columns(cols, [=](std::size_t c) {
        T sum = to[c];
        for (std::size_t j = 0; j < Width; ++j) sum += from[j * stride + c * Width + (Width - 1 - j)];
        to[c] = sum;
      });
    else
      lanes.for_columns(cols, [=](std::size_t c) {
        T sum = to[c];
        for (std::size_t j = window.first; j < window.last; ++j)
          sum += from[(j - window.first) * stride + c * Width + (Width - 1 - j)];
        to[c] = sum;
      });
  }
};

}  // namespace detail

/// y[r, c · Width + k] = x[r + k - ⌊Width/2⌋, c], and 0 where that row is not of r's sequence: x [rows,
/// cols], y [rows, cols · Width]. Columns are in the order of nn.Conv1d's weight [outputs, cols, Width].
template <std::size_t Width, Backend B>
Variable<B> windows(const Variable<B>& x, const SequenceBounds& sequences) {
  static_assert(Width % 2 == 1, "bahdanau: windows have an odd width, so that each has a middle");
  using T = typename B::Scalar;
  detail::require_made("windows", x);
  const std::size_t rows = x.rows(), cols = x.cols();
  const Variable<B> y = x.tape->variable({rows, cols * Width});
  B::for_rows(rows, detail::WindowsRow<Width, T>{sequences, cols, y.value, x.value});
  x.tape->record({"windows", {x}, {y}}, [=](Gradients<B>& d) {
    // y[q, c · Width + k] = x[q + k - half, c]  =>  dx[r, c] += Σ_k dy[r - k + half, c · Width + k]
    B::for_rows(rows, detail::WindowsAdjointRow<Width, T>{sequences, cols, d.to(x), d.of(y)});
  });
  return y;
}

/// y = tanh(a + b), both of one shape; a is used up where it was given (`Result::given`), else copied.
template <Backend B>
Variable<B> tanh_sum(const Variable<B>& a, const Variable<B>& b) {
  using T = typename B::Scalar;
  detail::require_same_tape("tanh_sum", a, b);
  detail::require_shape("tanh_sum", "two of one shape, and b", a.shape, b.shape);
  Tape<B>& tape = *a.tape;
  const Variable<B> sum = tape.take(a);
  const Variable<B> y = tape.variable(a.shape);
  detail::map_elements<B>(y.size(), pointwise::TanhSum{}, Store<T>{y.value}, detail::input(sum.value),
                          detail::input(b.value));
  tape.record({"tanh_sum", {sum, b}, {y}, {y}}, [=](Gradients<B>& d) {
    // y = tanh(a + b)  =>  da = dy (1 - y²) in a's place, db += the same
    detail::map_elements<B>(y.size(), pointwise::TanhSumAdjoint{}, Store<T>{d.in_place(sum)}, Add<T>{d.to(b)},
                            detail::input(y.value), d.of(y));
  });
  return y;
}

}  // namespace bahdanau
