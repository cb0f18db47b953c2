// The plain recurrent cell, with PyTorch's conventions: one tanh, no gates.
// Its pointwise part is one fused operation; the adjoint stands below the step.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include <bahdanau/cell/cell.hpp>

namespace bahdanau {

namespace pointwise {

/// h' = tanh(a + b), where a is x + W h
struct RnnStep {
  template <class V>
  BAHDANAU_HOST_DEVICE V operator()(V a, V b) const {
    return pointwise::tanh(a + b);
  }
};

/// From h' and dh': the gradient of x, which is that of W h + b as well.
struct RnnStepAdjoint {
  template <class V>
  BAHDANAU_HOST_DEVICE V operator()(V h_next, V dh_next) const {
    // h' = tanh(x + W h + b)
    return dh_next * pointwise::multiply_add(-h_next, h_next, V(1));
  }
};

}  // namespace pointwise

namespace detail {

template <class T>
struct RnnRow {
  std::size_t hidden;
  const T *a, *b;
  T* h_next;
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t row) const {
    lanes.map(hidden, pointwise::RnnStep{}, Store<T>{h_next + row * hidden}, a + row * hidden, b);
  }
};

template <class T>
struct RnnAdjointRow {
  std::size_t hidden;
  T* dx;
  const T *h_next, *dh_next;
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t row) const {
    lanes.map(hidden, pointwise::RnnStepAdjoint{}, Store<T>{dx + row * hidden}, h_next + row * hidden,
              dh_next + row * hidden);
  }
};

}  // namespace detail

/// h' = tanh(W_ih x + b_ih + W_hh h + b_hh): `nn.RNN`.
struct Rnn {
  static constexpr std::string_view name = "rnn";
  static constexpr std::size_t gates = 1;
  static constexpr bool uses_up_input = true;
  static constexpr std::size_t parts = 1;
  static constexpr std::array<std::string_view, parts> part_names{"h"};
  using Weights = RecurrentWeights;

  static Weights declare(Scope scope, std::size_t inputs, std::size_t hidden) {
    return Weights::declare(scope, gates, inputs, hidden);
  }

  /// projected [rows, hidden], h [rows, hidden] to h' [rows, hidden].
  template <Backend B>
  static CellState<Rnn, B> step(const Weights& w, const Variable<B>& projected,
                                const CellState<Rnn, B>& state) {
    using T = typename B::Scalar;
    Tape<B>& tape = *projected.tape;
    const Variable<B> h = state[0], W = tape.weight(w.weight_hh), b = tape[w.bias_hh];
    const std::size_t rows = h.rows(), H = W.cols();
    detail::require_shape("Rnn::step", "a state", {rows, H}, h.shape);
    detail::require_shape("Rnn::step", "an input product", {rows, H}, projected.shape);
    const Variable<B> x = tape.take(projected);
    // x + W_h h in x's place, where the gradient of both will stand; b_h is added where tanh is computed
    detail::multiply_rows<B>(h, W, 0, {x.value, H}, x.value);
    const Variable<B> next = tape.following(h);
    B::for_rows(rows, detail::RnnRow<T>{H, x.value, b.value, next.value});
    tape.record({"Rnn::step", {x, h, W, b}, {next}, {h, next, W}}, [=](Gradients<B>& d) {
      T* dx = d.in_place(x);
      B::for_rows(rows, detail::RnnAdjointRow<T>{H, dx, next.value, d.of(next)});
      // x + W_h h + b_h  =>  dh += dx W_h
      detail::add_to_input<B>(d, {dx, rows, H}, h, W, 0);
    });
    tape.add_weight({W, b, h, x, H, H});
    return {next};
  }

  /// tanh alone, for who changes the products before they meet (`LayerNorm`): x, which stands for W_ih x +
  /// b_ih, and u, for W_hh h + b_hh, both [rows, hidden], to h' [rows, hidden].
  template <Backend B>
  static CellState<Rnn, B> combine(const Variable<B>& projected, const Variable<B>& recurrent,
                                   const CellState<Rnn, B>& state) {
    detail::require_shape("Rnn::combine", "an input product", state[0].shape, projected.shape);
    detail::require_shape("Rnn::combine", "a recurrent product", state[0].shape, recurrent.shape);
    return {tanh_sum(projected, recurrent)};
  }
};

static_assert(Cell<Rnn>);

}  // namespace bahdanau
