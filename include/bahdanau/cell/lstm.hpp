// The long short-term memory, with PyTorch's conventions: rows of the weights stacked i, f, g, o.
// Its pointwise part is one fused operation; the adjoint stands below the step.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include <bahdanau/cell/cell.hpp>

namespace bahdanau {

namespace pointwise {

/// i, f, o = σ(x + u), g = tanh(x_g + u_g), c' = f c + i g, t = tanh c', h' = o t
struct LstmStep {
  template <class V>
  BAHDANAU_HOST_DEVICE Values<V, 7> operator()(V x_i, V x_f, V x_g, V x_o, V u_i, V u_f, V u_g, V u_o,
                                               V c) const {
    const V i = pointwise::sigmoid(x_i + u_i);
    const V f = pointwise::sigmoid(x_f + u_f);
    const V g = pointwise::tanh(x_g + u_g);
    const V o = pointwise::sigmoid(x_o + u_o);
    const V c_next = f * c + i * g;
    const V t = pointwise::tanh(c_next);
    return {{i, f, g, o, t, c_next, o * t}};
  }
};

/// From i, f, g, o, t, c, dh' and dc': the gradients of the four sums x + u, and of c.
struct LstmStepAdjoint {
  template <class V>
  BAHDANAU_HOST_DEVICE Values<V, 5> operator()(V i, V f, V g, V o, V t, V c, V dh_next, V dc_next) const {
    // h' = o tanh c'
    const V d_o = dh_next * t;
    const V dc = dc_next + dh_next * o * (V(1) - t * t);
    // c' = f c + i g; i, f, o = σ(.), g = tanh(.)
    return {{dc * g * i * (V(1) - i), dc * c * f * (V(1) - f), dc * i * (V(1) - g * g), d_o * o * (V(1) - o),
             dc * f}};
  }
};

}  // namespace pointwise

namespace detail {

// Rows of x and u are [4 · hidden]: i, f, g, o. The step leaves i, f, g, o in u's place.
template <class T>
struct LstmRow {
  std::size_t hidden;
  const T* x;
  T* u;
  const T* c;
  T *t, *c_next, *h_next;
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t row) const {
    const std::size_t H = hidden;
    const T* x_row = x + row * 4 * H;
    T* u_row = u + row * 4 * H;
    const T* u_in = u_row;
    lanes.map(H, pointwise::LstmStep{}, Store<T>{u_row}, Store<T>{u_row + H}, Store<T>{u_row + 2 * H},
              Store<T>{u_row + 3 * H}, Store<T>{t + row * H}, Store<T>{c_next + row * H},
              Store<T>{h_next + row * H}, x_row, x_row + H, x_row + 2 * H, x_row + 3 * H, u_in, u_in + H,
              u_in + 2 * H, u_in + 3 * H, c + row * H);
  }
};

template <class T>
struct LstmAdjointRow {
  std::size_t hidden;
  const T *u, *t, *c, *dh_next, *dc_next;
  T *dx, *du, *dc;
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t row) const {
    const std::size_t H = hidden;
    const T* u_row = u + row * 4 * H;
    T* du_row = du + row * 4 * H;
    lanes.map(H, pointwise::LstmStepAdjoint{}, Store<T>{du_row}, Store<T>{du_row + H},
              Store<T>{du_row + 2 * H}, Store<T>{du_row + 3 * H}, Add<T>{dc + row * H}, u_row, u_row + H,
              u_row + 2 * H, u_row + 3 * H, t + row * H, c + row * H, dh_next + row * H, dc_next + row * H);
    // x enters as u does
    const T* du_sums = du_row;
    lanes.map(4 * H, pointwise::Identity{}, Add<T>{dx + row * 4 * H}, du_sums);
  }
};

}  // namespace detail

/// i, f, o = σ(W_i. x + b_i. + W_h. h + b_h.), g = tanh(W_ig x + b_ig + W_hg h + b_hg),
/// c' = f ⊙ c + i ⊙ g, h' = o ⊙ tanh c'.
struct Lstm {
  static constexpr std::string_view name = "lstm";
  static constexpr std::size_t gates = 4;
  static constexpr std::size_t parts = 2;
  static constexpr std::array<std::string_view, parts> part_names{"h", "c"};
  using Weights = RecurrentWeights;

  static Weights declare(Scope scope, std::size_t inputs, std::size_t hidden) {
    return Weights::declare(scope, gates, inputs, hidden);
  }

  /// projected [rows, 4 · hidden], h and c [rows, hidden] to h' and c' [rows, hidden].
  template <Backend B>
  static CellState<Lstm, B> step(const Weights& w, const Variable<B>& projected,
                                 const CellState<Lstm, B>& state) {
    using T = typename B::Scalar;
    Tape<B>& tape = *projected.tape;
    const Variable<B> x = projected, h = state[0], c = state[1];
    const Variable<B> u = linear(h, tape[w.weight_hh], tape[w.bias_hh]);  // [rows, 4 · hidden]
    detail::require_shape("Lstm::step", "an input product", u.shape, x.shape);
    detail::require_shape("Lstm::step", "a memory c", h.shape, c.shape);
    detail::require_same_tape("Lstm::step", h, c);
    const Variable<B> t = tape.constant(h.shape);
    const typename B::Scalar* lane = tape[w.weight_hh].value;
    const Variable<B> h_next = tape.variable(h.shape, {lane, Lane<B>::Kind::state});
    const Variable<B> c_next = tape.variable(h.shape, {lane, Lane<B>::Kind::memory});
    B::for_rows(h.rows(),
                detail::LstmRow<T>{h.cols(), x.value, u.value, c.value, t.value, c_next.value, h_next.value});
    tape.record([=, dx = tape.gradient_room(x), dc = tape.gradient_room(c)] {
      B::for_rows(h.rows(), detail::LstmAdjointRow<T>{h.cols(), u.value, t.value, c.value, h_next.gradient,
                                                      c_next.gradient, dx, u.gradient, dc});
    });
    return {h_next, c_next};
  }
};

static_assert(Cell<Lstm>);

}  // namespace bahdanau
