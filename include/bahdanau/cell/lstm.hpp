// The long short-term memory, with PyTorch's conventions: rows of the weights stacked i, f, g, o.
// Its pointwise part is one fused operation; the adjoint stands below the step.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include <bahdanau/cell/cell.hpp>

namespace bahdanau {

namespace pointwise {

/// i, f, o = σ(x + b), g = tanh(x_g + b_g), c' = f c + i g, h' = o tanh c'
struct LstmStep {
  template <class V>
  BAHDANAU_HOST_DEVICE Values<V, 6> operator()(V x_i, V x_f, V x_g, V x_o, V b_i, V b_f, V b_g, V b_o,
                                               V c) const {
    const V i = pointwise::sigmoid(x_i + b_i);
    const V f = pointwise::sigmoid(x_f + b_f);
    const V g = pointwise::tanh(x_g + b_g);
    const V o = pointwise::sigmoid(x_o + b_o);
    const V c_next = pointwise::multiply_add(f, c, pointwise::rounded_product(i, g));
    return {{i, f, g, o, c_next, o * pointwise::tanh(c_next)}};
  }
};

/// From i, f, g, o, c, do and dc': the gradients of the four sums x, and of c.
template <class V>
[[gnu::always_inline]] BAHDANAU_HOST_DEVICE inline Values<V, 5> lstm_gates_adjoint(V i, V f, V g, V o, V c,
                                                                                   V d_o, V dc) {
  // c' = f c + i g; i, f, o = σ(.), g = tanh(.)
  return {{dc * g * i * (V(1) - i), dc * c * f * (V(1) - f), dc * i * pointwise::multiply_add(-g, g, V(1)),
           d_o * o * (V(1) - o), dc * f}};
}

/// From i, f, g, o, c, c', dh' and dc': the same.
struct LstmStepAdjoint {
  template <class V>
  BAHDANAU_HOST_DEVICE Values<V, 5> operator()(V i, V f, V g, V o, V c, V c_next, V dh_next,
                                               V dc_next) const {
    // h' = o tanh c'; the tanh is computed again: cheaper than keeping it
    const V t = pointwise::tanh(c_next);
    const V d_o = dh_next * t;
    const V dc = pointwise::multiply_add(dh_next * o, pointwise::multiply_add(-t, t, V(1)), dc_next);
    return lstm_gates_adjoint(i, f, g, o, c, d_o, dc);
  }
};

struct LstmGatesAdjoint {
  template <class V>
  BAHDANAU_HOST_DEVICE Values<V, 5> operator()(V i, V f, V g, V o, V c, V d_o, V dc) const {
    return lstm_gates_adjoint(i, f, g, o, c, d_o, dc);
  }
};

/// o tanh v
struct GatedTanh {
  template <class V>
  BAHDANAU_HOST_DEVICE V operator()(V o, V v) const {
    return o * pointwise::tanh(v);
  }
};
/// From o, v and dh: the gradients of o and v.
struct GatedTanhAdjoint {
  template <class V>
  BAHDANAU_HOST_DEVICE Values<V, 2> operator()(V o, V v, V dh) const {
    // h = o tanh v
    const V t = pointwise::tanh(v);
    return {{dh * t, dh * o * pointwise::multiply_add(-t, t, V(1))}};
  }
};

}  // namespace pointwise

namespace detail {

// Rows of x are [4 · hidden]: i, f, g, o. The step leaves the gates in their place, the adjoint the
// gradients.
template <class T>
struct LstmRow {
  std::size_t hidden;
  T* x;
  const T *b, *c;
  T *c_next, *h_next;
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t row) const {
    const std::size_t H = hidden;
    T* x_row = x + row * 4 * H;
    const T* x_in = x_row;
    lanes.map(H, pointwise::LstmStep{}, Store<T>{x_row}, Store<T>{x_row + H}, Store<T>{x_row + 2 * H},
              Store<T>{x_row + 3 * H}, Store<T>{c_next + row * H}, Store<T>{h_next + row * H}, x_in, x_in + H,
              x_in + 2 * H, x_in + 3 * H, b, b + H, b + 2 * H, b + 3 * H, c + row * H);
  }
};

template <class T>
struct LstmAdjointRow {
  std::size_t hidden;
  T* x;
  const T *c, *c_next, *dh_next, *dc_next;
  T* dc;
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t row) const {
    const std::size_t H = hidden;
    T* x_row = x + row * 4 * H;
    const T* gates = x_row;
    lanes.map(H, pointwise::LstmStepAdjoint{}, Store<T>{x_row}, Store<T>{x_row + H}, Store<T>{x_row + 2 * H},
              Store<T>{x_row + 3 * H}, Add<T>{dc + row * H}, gates, gates + H, gates + 2 * H, gates + 3 * H,
              c + row * H, c_next + row * H, dh_next + row * H, dc_next + row * H);
  }
};

// The same in two parts, for who changes c' before its tanh: first the gates and c', where u [rows, 4 ·
// hidden] is an array of its own, in whose place the adjoint leaves u's gradients, which are those of x. The
// step leaves i, f and g in x's place, and o in an array that the second part reads.
template <class T>
struct LstmGatesRow {
  std::size_t hidden;
  T* x;
  const T *u, *c;
  T *o, *c_next;
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t row) const {
    const std::size_t H = hidden;
    T* x_row = x + row * 4 * H;
    const T *x_in = x_row, *u_row = u + row * 4 * H;
    lanes.map(H, pointwise::LstmStep{}, Store<T>{x_row}, Store<T>{x_row + H}, Store<T>{x_row + 2 * H},
              Store<T>{o + row * H}, Store<T>{c_next + row * H}, x_in, x_in + H, x_in + 2 * H, x_in + 3 * H,
              u_row, u_row + H, u_row + 2 * H, u_row + 3 * H, c + row * H);
  }
};

template <class T>
struct LstmGatesAdjointRow {
  std::size_t hidden;
  T *x, *u;
  const T *o, *c, *d_o, *dc_next;
  T* dc;
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t row) const {
    const std::size_t H = hidden;
    T *x_row = x + row * 4 * H, *u_row = u + row * 4 * H;
    const T* gates = x_row;
    lanes.map(H, pointwise::LstmGatesAdjoint{}, Store<T>{x_row}, Store<T>{x_row + H}, Store<T>{x_row + 2 * H},
              Store<T>{x_row + 3 * H}, Add<T>{dc + row * H}, gates, gates + H, gates + 2 * H, o + row * H,
              c + row * H, d_o + row * H, dc_next + row * H);
    // x + u  =>  du = dx
    for (std::size_t gate = 0; gate < 4; ++gate)
      lanes.map(H, pointwise::Identity{}, Store<T>{u_row + gate * H}, gates + gate * H);
  }
};

/// h' = o ⊙ tanh v, the state after h: o and v [rows, hidden].
template <Backend B>
Variable<B> gated_tanh(const Variable<B>& o, const Variable<B>& v, const Variable<B>& h) {
  using T = typename B::Scalar;
  require_same_tape("Lstm::combine", o, v);
  require_shape("Lstm::combine", "a changed memory", o.shape, v.shape);
  const Variable<B> next = o.tape->following(h);
  map_elements<B>(o.size(), pointwise::GatedTanh{}, Store<T>{next.value}, input(o.value), input(v.value));
  o.tape->record({"Lstm::combine", {o, v}, {next}, {o, v}}, [=](Gradients<B>& d) {
    map_elements<B>(o.size(), pointwise::GatedTanhAdjoint{}, Add<T>{d.to(o)}, Add<T>{d.to(v)}, input(o.value),
                    input(v.value), d.of(next));
  });
  return next;
}

}  // namespace detail

/// i, f, o = σ(W_i. x + b_i. + W_h. h + b_h.), g = tanh(W_ig x + b_ig + W_hg h + b_hg),
/// c' = f ⊙ c + i ⊙ g, h' = o ⊙ tanh c'.
struct Lstm {
  static constexpr std::string_view name = "lstm";
  static constexpr std::size_t gates = 4;
  static constexpr bool uses_up_input = true;
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
    const Variable<B> h = state[0], c = state[1], W = tape.weight(w.weight_hh), b = tape[w.bias_hh];
    const std::size_t rows = h.rows(), H = W.cols();
    detail::require_shape("Lstm::step", "a state", {rows, H}, h.shape);
    detail::require_shape("Lstm::step", "an input product", {rows, W.rows()}, projected.shape);
    detail::require_shape("Lstm::step", "a memory c", h.shape, c.shape);
    detail::require_same_tape("Lstm::step", h, c);
    const Variable<B> x = tape.take(projected);
    // x + W_h h in x's place; b_h is added where the gates are computed
    detail::multiply_rows<B>(h, W, 0, {x.value, x.cols()}, x.value);
    const Variable<B> h_next = tape.following(h), c_next = tape.following(c);
    B::for_rows(rows, detail::LstmRow<T>{H, x.value, b.value, c.value, c_next.value, h_next.value});
    tape.record({"Lstm::step", {x, h, c, W, b}, {h_next, c_next}, {h, c, c_next, W}}, [=](Gradients<B>& d) {
      T* dx = d.in_place(x);
      B::for_rows(
          rows, detail::LstmAdjointRow<T>{H, dx, c.value, c_next.value, d.of(h_next), d.of(c_next), d.to(c)});
      detail::add_to_input<B>(d, {dx, rows, 4 * H}, h, W, 0);
    });
    tape.add_weight({W, b, h, x, 4 * H, H});
    return {h_next, c_next};
  }

  /// The gates alone, for who changes the products before they meet (`LayerNorm`): x, which stands for W_ih x
  /// + b_ih, and u, for W_hh h + b_hh, both [rows, 4 · hidden] and given, to h' = o ⊙ tanh memory(c') and c'
  /// [rows, hidden].
  template <Backend B, class Memory>
  static CellState<Lstm, B> combine(const Variable<B>& projected, const Variable<B>& recurrent,
                                    const CellState<Lstm, B>& state, Memory memory) {
    using T = typename B::Scalar;
    Tape<B>& tape = *projected.tape;
    const Variable<B> h = state[0], c = state[1];
    const std::size_t rows = h.rows(), H = h.cols();
    detail::require_shape("Lstm::combine", "an input product", {rows, 4 * H}, projected.shape);
    detail::require_shape("Lstm::combine", "a recurrent product", {rows, 4 * H}, recurrent.shape);
    detail::require_shape("Lstm::combine", "a memory c", h.shape, c.shape);
    const Variable<B> x = tape.take(projected), u = tape.take(recurrent);
    const Variable<B> o = tape.variable(h.shape), c_next = tape.following(c);
    B::for_rows(rows, detail::LstmGatesRow<T>{H, x.value, u.value, c.value, o.value, c_next.value});
    tape.record({"Lstm::combine", {x, u, c}, {o, c_next}, {c, o}}, [=](Gradients<B>& d) {
      B::for_rows(rows, detail::LstmGatesAdjointRow<T>{H, d.in_place(x), d.in_place(u), o.value, c.value,
                                                       d.of(o), d.of(c_next), d.to(c)});
    });
    return {detail::gated_tanh(o, memory(c_next), h), c_next};
  }
};

static_assert(Cell<Lstm>);

}  // namespace bahdanau
