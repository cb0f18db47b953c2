// The gated recurrent unit, with PyTorch's conventions: rows of the weights stacked r, z, n.
// Its pointwise part is one fused operation; the adjoint stands below the step.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include <bahdanau/cell/cell.hpp>

namespace bahdanau {

namespace pointwise {

/// r = σ(x_r + u_r), z = σ(x_z + u_z), n = tanh(x_n + r u_n), h' = (1 - z) n + z h; u_n is handed on
struct GruStep {
  template <class V>
  BAHDANAU_HOST_DEVICE Values<V, 5> operator()(V x_r, V x_z, V x_n, V u_r, V u_z, V u_n, V h) const {
    const V r = pointwise::sigmoid(x_r + u_r);
    const V z = pointwise::sigmoid(x_z + u_z);
    const V n = pointwise::tanh(pointwise::multiply_add(r, u_n, x_n));
    return {{r, z, n, u_n, pointwise::multiply_add(z, h - n, n)}};
  }
};

/// From r, z, n, u_n, h and dh': the gradients of x_r, x_z, x_n, of u_n, and of h.
struct GruStepAdjoint {
  template <class V>
  BAHDANAU_HOST_DEVICE Values<V, 5> operator()(V r, V z, V n, V u_n, V h, V dh_next) const {
    // h' = (1 - z) n + z h
    const V dn = dh_next * (V(1) - z);
    const V dz = dh_next * (h - n);
    // n = tanh(x_n + r u_n)
    const V dx_n = dn * pointwise::multiply_add(-n, n, V(1));
    // r = σ(x_r + u_r)
    const V dx_r = dx_n * u_n * r * (V(1) - r);
    // z = σ(x_z + u_z)
    const V dx_z = dz * z * (V(1) - z);
    return {{dx_r, dx_z, dx_n, dx_n * r, dh_next * z}};
  }
};

}  // namespace pointwise

namespace detail {

// Rows of x and u are [3 · hidden]: r, z, n. The step leaves r, z and n in x's place; the adjoint leaves the
// gradients of x there, which are those of u as well but for the last third: that of u_n takes u_n's place.
template <class T>
struct GruRow {
  std::size_t hidden;
  T* x;
  const T *u, *h;
  T *u_n, *h_next;
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t row) const {
    T* x_row = x + row * 3 * hidden;
    const T *x_in = x_row, *u_row = u + row * 3 * hidden;
    lanes.map(hidden, pointwise::GruStep{}, Store<T>{x_row}, Store<T>{x_row + hidden},
              Store<T>{x_row + 2 * hidden}, Store<T>{u_n + row * hidden}, Store<T>{h_next + row * hidden},
              x_in, x_in + hidden, x_in + 2 * hidden, u_row, u_row + hidden, u_row + 2 * hidden,
              h + row * hidden);
  }
};

template <class T>
struct GruAdjointRow {
  std::size_t hidden;
  T *x, *u_n;
  const T *h, *dh_next;
  T* dh;
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t row) const {
    T *x_row = x + row * 3 * hidden, *u_row = u_n + row * hidden;
    const T *gates = x_row, *u_in = u_row;
    lanes.map(hidden, pointwise::GruStepAdjoint{}, Store<T>{x_row}, Store<T>{x_row + hidden},
              Store<T>{x_row + 2 * hidden}, Store<T>{u_row}, Add<T>{dh + row * hidden}, gates, gates + hidden,
              gates + 2 * hidden, u_in, h + row * hidden, dh_next + row * hidden);
  }
};

/// The same where u [rows, 3 · hidden] is an array of its own: u_n stays in its place, where the adjoint puts
/// the gradients of u.
template <class T>
struct GruCombineRow {
  std::size_t hidden;
  T *x, *u;
  const T* h;
  T* h_next;
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t row) const {
    T *x_row = x + row * 3 * hidden, *u_row = u + row * 3 * hidden;
    const T *x_in = x_row, *u_in = u_row;
    lanes.map(hidden, pointwise::GruStep{}, Store<T>{x_row}, Store<T>{x_row + hidden},
              Store<T>{x_row + 2 * hidden}, Store<T>{u_row + 2 * hidden}, Store<T>{h_next + row * hidden},
              x_in, x_in + hidden, x_in + 2 * hidden, u_in, u_in + hidden, u_in + 2 * hidden,
              h + row * hidden);
  }
};

template <class T>
struct GruCombineAdjointRow {
  std::size_t hidden;
  T *x, *u;
  const T *h, *dh_next;
  T* dh;
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t row) const {
    T *x_row = x + row * 3 * hidden, *u_row = u + row * 3 * hidden;
    const T *gates = x_row, *u_in = u_row;
    lanes.map(hidden, pointwise::GruStepAdjoint{}, Store<T>{x_row}, Store<T>{x_row + hidden},
              Store<T>{x_row + 2 * hidden}, Store<T>{u_row + 2 * hidden}, Add<T>{dh + row * hidden}, gates,
              gates + hidden, gates + 2 * hidden, u_in + 2 * hidden, h + row * hidden,
              dh_next + row * hidden);
    // x_r + u_r, x_z + u_z  =>  du_r = dx_r, du_z = dx_z
    lanes.map(hidden, pointwise::Identity{}, Store<T>{u_row}, gates);
    lanes.map(hidden, pointwise::Identity{}, Store<T>{u_row + hidden}, gates + hidden);
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
    const Variable<B> h = state[0], W = tape.weight(w.weight_hh), b = tape[w.bias_hh];
    const std::size_t rows = h.rows(), H = W.cols();
    detail::require_shape("Gru::step", "a state", {rows, H}, h.shape);
    detail::require_shape("Gru::step", "an input product", {rows, W.rows()}, projected.shape);
    const Variable<B> x = tape.take(projected);
    // u = W_h h + b_h: of it only u_n is kept, in place of which its gradient will stand
    T* u = tape.scratch(x.size());
    detail::multiply_rows<B>(h, W, 0, {b.value, 0}, u);
    const Variable<B> u_n = tape.take(tape.variable(h.shape, Result::given));
    const Variable<B> next = tape.following(h);
    B::for_rows(rows, detail::GruRow<T>{H, x.value, u, h.value, u_n.value, next.value});
    if (!tape.recording()) return {next};
    // u_r, u_z = W_hr h + b_hr, W_hz h + b_hz, whose gradients are x's; u_n = W_hn h + b_hn
    const Variable<B> W_rz = W.row_range(0, 2 * H), W_n = W.row_range(2 * H, H), biases = b.reshape({3, H});
    tape.record({"Gru::step", {x, u_n, h, W, b}, {next, u_n}, {h, W}}, [=](Gradients<B>& d) {
      T *dx = d.in_place(x), *du_n = d.in_place(u_n);
      B::for_rows(rows, detail::GruAdjointRow<T>{H, dx, du_n, h.value, d.of(next), d.to(h)});
      detail::add_to_input<B>(d, {dx, rows, 3 * H}, h, W_rz, 0);
      detail::add_to_input<B>(d, {du_n, rows, H}, h, W_n, 0);
    });
    tape.add_weight({W_rz, biases.row_range(0, 2), h, x, 2 * H, H});
    tape.add_weight({W_n, biases.row_range(2, 1), h, u_n, H, H});
    return {next};
  }

  /// The gates alone, for who changes the products before they meet (`LayerNorm`): x, which stands for W_ih x
  /// + b_ih, and u, for W_hh h + b_hh, both [rows, 3 · hidden] and given, to h' [rows, hidden].
  template <Backend B>
  static CellState<Gru, B> combine(const Variable<B>& projected, const Variable<B>& recurrent,
                                   const CellState<Gru, B>& state) {
    using T = typename B::Scalar;
    Tape<B>& tape = *projected.tape;
    const Variable<B> h = state[0];
    const std::size_t rows = h.rows(), H = h.cols();
    detail::require_shape("Gru::combine", "an input product", {rows, 3 * H}, projected.shape);
    detail::require_shape("Gru::combine", "a recurrent product", {rows, 3 * H}, recurrent.shape);
    const Variable<B> x = tape.take(projected), u = tape.take(recurrent), next = tape.following(h);
    B::for_rows(rows, detail::GruCombineRow<T>{H, x.value, u.value, h.value, next.value});
    tape.record({"Gru::combine", {x, u, h}, {next}, {h}}, [=](Gradients<B>& d) {
      B::for_rows(rows, detail::GruCombineAdjointRow<T>{H, d.in_place(x), d.in_place(u), h.value, d.of(next),
                                                        d.to(h)});
    });
    return {next};
  }
};

static_assert(Cell<Gru>);

}  // namespace bahdanau
