// The gated recurrent unit of the papers of 2014 and 2015: the reset gate acts on h before its product.
// The pointwise parts are fused operations; rows of the weights are stacked r, z, n, as Gru's are.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include <bahdanau/autograd/ops.hpp>
#include <bahdanau/cell/cell.hpp>

namespace bahdanau {

namespace pointwise {

/// r = σ(x_r + u_r), z = σ(x_z + u_z), and r h
struct ResetGates {
  template <class V>
  BAHDANAU_HOST_DEVICE Values<V, 3> operator()(V x_r, V x_z, V u_r, V u_z, V h) const {
    const V r = pointwise::sigmoid(x_r + u_r);
    return {{r, pointwise::sigmoid(x_z + u_z), r * h}};
  }
};

/// n = tanh(x_n + u_n), h' = (1 - z) n + z h
struct ResetStep {
  template <class V>
  BAHDANAU_HOST_DEVICE Values<V, 2> operator()(V x_n, V u_n, V z, V h) const {
    const V n = pointwise::tanh(x_n + u_n);
    return {{n, pointwise::multiply_add(z, h - n, n)}};
  }
};

/// From z, n, h and dh': the gradients of x_z, of x_n, and of h through h' itself.
struct ResetStepAdjoint {
  template <class V>
  BAHDANAU_HOST_DEVICE Values<V, 3> operator()(V z, V n, V h, V dh_next) const {
    // h' = (1 - z) n + z h, n = tanh(x_n + u_n), z = σ(x_z + u_z)
    const V dx_n = dh_next * (V(1) - z) * pointwise::multiply_add(-n, n, V(1));
    const V dx_z = dh_next * (h - n) * z * (V(1) - z);
    return {{dx_z, dx_n, dh_next * z}};
  }
};

/// From r, h and the gradient of r h: the gradients of x_r, and of h through r h.
struct ResetGatesAdjoint {
  template <class V>
  BAHDANAU_HOST_DEVICE Values<V, 2> operator()(V r, V h, V drh) const {
    // r = σ(x_r + u_r)
    return {{drh * h * r * (V(1) - r), drh * r}};
  }
};

}  // namespace pointwise

namespace detail {

// Rows of x are [3 · hidden]: r, z, n. The step leaves the gates in their place, the adjoint the gradients of
// x, which are those of u as well.
template <class T>
struct ResetGatesRow {
  std::size_t hidden;
  T* x;
  const T *u, *h;  // u [rows, 2 · hidden]: r, z
  T* rh;
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t row) const {
    T* x_row = x + row * 3 * hidden;
    const T *x_in = x_row, *u_row = u + row * 2 * hidden;
    lanes.map(hidden, pointwise::ResetGates{}, Store<T>{x_row}, Store<T>{x_row + hidden},
              Store<T>{rh + row * hidden}, x_in, x_in + hidden, u_row, u_row + hidden, h + row * hidden);
  }
};

template <class T>
struct ResetStepRow {
  std::size_t hidden;
  T* x;
  const T *u_n, *h;
  T* h_next;
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t row) const {
    T* x_row = x + row * 3 * hidden;
    const T* x_in = x_row;
    lanes.map(hidden, pointwise::ResetStep{}, Store<T>{x_row + 2 * hidden}, Store<T>{h_next + row * hidden},
              x_in + 2 * hidden, u_n + row * hidden, x_in + hidden, h + row * hidden);
  }
};

template <class T>
struct ResetStepAdjointRow {
  std::size_t hidden;
  T* x;
  const T *h, *dh_next;
  T* dh;
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t row) const {
    T* x_row = x + row * 3 * hidden;
    const T* gates = x_row;
    lanes.map(hidden, pointwise::ResetStepAdjoint{}, Store<T>{x_row + hidden}, Store<T>{x_row + 2 * hidden},
              Add<T>{dh + row * hidden}, gates + hidden, gates + 2 * hidden, h + row * hidden,
              dh_next + row * hidden);
  }
};

template <class T>
struct ResetGatesAdjointRow {
  std::size_t hidden;
  T* x;
  const T *h, *drh;
  T* dh;
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t row) const {
    T* x_row = x + row * 3 * hidden;
    const T* gates = x_row;
    lanes.map(hidden, pointwise::ResetGatesAdjoint{}, Store<T>{x_row}, Add<T>{dh + row * hidden}, gates,
              h + row * hidden, drh + row * hidden);
  }
};

}  // namespace detail

/// r = σ(W_ir x + b_ir + W_hr h + b_hr), z = σ(W_iz x + b_iz + W_hz h + b_hz),
/// n = tanh(W_in x + b_in + W_hn (r ⊙ h) + b_hn), h' = (1 - z) ⊙ n + z ⊙ h.
struct GruResetBefore {
  static constexpr std::string_view name = "gru_reset_before";
  static constexpr std::size_t gates = 3;
  static constexpr bool uses_up_input = true;
  static constexpr std::size_t parts = 1;
  static constexpr std::array<std::string_view, parts> part_names{"h"};
  using Weights = RecurrentWeights;

  static Weights declare(Scope scope, std::size_t inputs, std::size_t hidden) {
    return Weights::declare(scope, gates, inputs, hidden);
  }

  /// projected [rows, 3 · hidden], h [rows, hidden] to h' [rows, hidden].
  template <Backend B>
  static CellState<GruResetBefore, B> step(const Weights& w, const Variable<B>& projected,
                                           const CellState<GruResetBefore, B>& state) {
    using T = typename B::Scalar;
    Tape<B>& tape = *projected.tape;
    const Variable<B> h = state[0], W = tape.weight(w.weight_hh), b = tape[w.bias_hh];
    const std::size_t rows = h.rows(), H = W.cols();
    detail::require_shape("GruResetBefore::step", "a state", {rows, H}, h.shape);
    detail::require_shape("GruResetBefore::step", "an input product", {rows, W.rows()}, projected.shape);
    const Variable<B> W_rz = W.row_range(0, 2 * H), W_n = W.row_range(2 * H, H), biases = b.reshape({3, H});
    const Variable<B> x = tape.take(projected);
    // u_r, u_z = W_hr h + b_hr, W_hz h + b_hz
    T* u = tape.scratch(2 * rows * H);
    detail::multiply_rows<B>(h, W_rz, 0, {b.value, 0}, u);
    const Variable<B> rh = tape.variable(h.shape), next = tape.following(h);
    B::for_rows(rows, detail::ResetGatesRow<T>{H, x.value, u, h.value, rh.value});
    // u_n = W_hn (r ⊙ h) + b_hn
    detail::multiply_rows<B>(rh, W_n, 0, {b.value + 2 * H, 0}, u);
    B::for_rows(rows, detail::ResetStepRow<T>{H, x.value, u, h.value, next.value});
    if (!tape.recording()) return {next};
    tape.record({"GruResetBefore::step", {x, h, W, b}, {next}, {h, W}}, [=, &tape](Gradients<B>& d) {
      T *dx = d.in_place(x), *dh = d.to(h), *drh = tape.scratch(rows * H);
      B::for_rows(rows, detail::ResetStepAdjointRow<T>{H, dx, h.value, d.of(next), dh});
      detail::multiply_weight<B>(tape, {W_n.value, H, H, H, Transpose::no}, {dx + 2 * H, rows, 3 * H}, {},
                                 drh);
      B::for_rows(rows, detail::ResetGatesAdjointRow<T>{H, dx, h.value, drh, dh});
      detail::add_to_input<B>(d, {dx, rows, 3 * H}, h, W_rz, 0);
    });
    tape.add_weight({W_rz, biases.row_range(0, 2), h, x, 2 * H, H});
    tape.add_weight({W_n, biases.row_range(2, 1), rh, x, H, H, 2 * H});
    return {next};
  }
};

static_assert(Cell<GruResetBefore>);

}  // namespace bahdanau
