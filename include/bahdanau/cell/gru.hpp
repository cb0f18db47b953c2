// The gated recurrent unit, with PyTorch's conventions: rows of the weights stacked r, z, n.
// Its pointwise part is one fused operation; the adjoint stands below the step.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include <bahdanau/cell/cell.hpp>

namespace bahdanau {

namespace pointwise {

/// r = σ(x_r + u_r), z = σ(x_z + u_z), n = tanh(x_n + r u_n), h' = (1 - z) n + z h
struct GruStep {
  template <class V>
  BAHDANAU_HOST_DEVICE Values<V, 4> operator()(V x_r, V x_z, V x_n, V u_r, V u_z, V u_n, V h) const {
    const V r = pointwise::sigmoid(x_r + u_r);
    const V z = pointwise::sigmoid(x_z + u_z);
    const V n = pointwise::tanh(x_n + r * u_n);
    return {{r, z, n, n + z * (h - n)}};
  }
};

/// From r, z, n, u_n, h and dh': the gradients of x_r, x_z, x_n, then of u_r, u_z, u_n, and of h.
struct GruStepAdjoint {
  template <class V>
  BAHDANAU_HOST_DEVICE Values<V, 7> operator()(V r, V z, V n, V u_n, V h, V dh_next) const {
    // h' = (1 - z) n + z h
    const V dn = dh_next * (V(1) - z);
    const V dz = dh_next * (h - n);
    // n = tanh(x_n + r u_n)
    const V dx_n = dn * (V(1) - n * n);
    // r = σ(x_r + u_r)
    const V dx_r = dx_n * u_n * r * (V(1) - r);
    // z = σ(x_z + u_z)
    const V dx_z = dz * z * (V(1) - z);
    return {{dx_r, dx_z, dx_n, dx_r, dx_z, dx_n * r, dh_next * z}};
  }
};

}  // namespace pointwise

namespace detail {

// Rows of x and u are [3 · hidden]: r, z, n. The step leaves r and z in u's first two thirds, u_n stays.
template <class T>
struct GruRow {
  std::size_t hidden;
  const T* x;
  T* u;
  const T* h;
  T* n;
  std::size_t n_stride;
  T* h_next;
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t row) const {
    const T* x_row = x + row * 3 * hidden;
    T* u_row = u + row * 3 * hidden;
    const T* u_in = u_row;
    lanes.map(hidden, pointwise::GruStep{}, Store<T>{u_row}, Store<T>{u_row + hidden},
              Store<T>{n + row * n_stride}, Store<T>{h_next + row * hidden}, x_row, x_row + hidden,
              x_row + 2 * hidden, u_in, u_in + hidden, u_in + 2 * hidden, h + row * hidden);
  }
};

template <class T, template <class> class Output>
struct GruAdjointRow {
  std::size_t hidden;
  const T *u, *n;
  std::size_t n_stride;
  const T *h, *dh_next;
  T *dx, *du, *dh;
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t row) const {
    const T* u_row = u + row * 3 * hidden;
    T* dx_row = dx + row * 3 * hidden;
    T* du_row = du + row * 3 * hidden;
    lanes.map(hidden, pointwise::GruStepAdjoint{}, Output<T>{dx_row}, Output<T>{dx_row + hidden},
              Output<T>{dx_row + 2 * hidden}, Store<T>{du_row}, Store<T>{du_row + hidden},
              Store<T>{du_row + 2 * hidden}, Add<T>{dh + row * hidden}, u_row, u_row + hidden,
              n + row * n_stride, u_row + 2 * hidden, h + row * hidden, dh_next + row * hidden);
  }
};

}  // namespace detail

/// r = σ(W_ir x + b_ir + W_hr h + b_hr), z = σ(W_iz x + b_iz + W_hz h + b_hz),
/// n = tanh(W_in x + b_in + r ⊙ (W_hn h + b_hn)), h' = (1 - z) ⊙ n + z ⊙ h.
struct Gru {
  static constexpr std::string_view name = "gru";
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
  static CellState<Gru, B> step(const Weights& w, const Variable<B>& projected,
                                const CellState<Gru, B>& state) {
    using T = typename B::Scalar;
    Tape<B>& tape = *projected.tape;
    const Variable<B> x = projected, h = state[0];
    const Variable<B> u =
        linear(h, tape[w.weight_hh], tape[w.bias_hh], Result::used_up);  // [rows, 3 · hidden]
    detail::require_shape("Gru::step", "an input product", u.shape, x.shape);
    // n takes the place of x_n where x is used up
    T* n = x.used_up ? x.value + 2 * h.cols() : tape.constant(h.shape).value;
    const std::size_t n_stride = x.used_up ? x.cols() : h.cols();
    const Variable<B> next = tape.variable(h.shape, {tape[w.weight_hh].value, Lane<B>::Kind::state});
    B::for_rows(h.rows(), detail::GruRow<T>{h.cols(), x.value, u.value, h.value, n, n_stride, next.value});
    tape.record([=, dx = tape.gradient_room(x), dh = tape.gradient_room(h)] {
      const auto play = [&]<template <class> class Output>(Output<T>) {
        B::for_rows(h.rows(), detail::GruAdjointRow<T, Output>{h.cols(), u.value, n, n_stride, h.value,
                                                               next.gradient, dx, u.gradient, dh});
      };
      x.used_up ? play(Store<T>{}) : play(Add<T>{});
    });
    return {next};
  }
};

static_assert(Cell<Gru>);

}  // namespace bahdanau
