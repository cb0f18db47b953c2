// The Cell concept: one recurrent step and its parameters.
// To add a cell, write one struct as cell/gru.hpp does, or compose one from operations as examples show.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>

#include <bahdanau/autograd/ops.hpp>
#include <bahdanau/backend/any_backend.hpp>
#include <bahdanau/core/refuse_array.hpp>
#include <bahdanau/nn/parameter.hpp>

namespace bahdanau {

/// The four parameters of PyTorch's recurrent layers, for cells that need no others.
struct RecurrentWeights {
  Parameter weight_ih;  // [gates · hidden, inputs]
  Parameter weight_hh;  // [gates · hidden, hidden]
  Parameter bias_ih;    // [gates · hidden]
  Parameter bias_hh;    // [gates · hidden]

  [[gnu::noinline]] static RecurrentWeights declare(Scope scope, std::size_t gates, std::size_t inputs,
                                                    std::size_t hidden) {
    const std::size_t rows = gates * hidden;
    return {scope.matrix("weight_ih", rows, inputs), scope.matrix("weight_hh", rows, hidden),
            scope.bias("bias_ih", rows, hidden), scope.bias("bias_hh", rows, hidden)};
  }
};

/// A cell's state: `parts` arrays [rows, hidden], of which the first is the hidden state h.
template <class C, Backend B>
using CellState = std::array<Variable<B>, C::parts>;

/// What the rest of the model sees of a state: h [rows, hidden].
template <Backend B, std::size_t Parts>
const Variable<B>& hidden(const std::array<Variable<B>, Parts>& state) {
  return state[0];
}

namespace detail {

/// Points 1 and 2 of the contract below.
template <class C>
concept DeclaresCell = requires(Scope scope, std::size_t n) {
  { C::name } -> std::convertible_to<std::string_view>;
  requires C::parts >= 1;
  { C::part_names[0] } -> std::convertible_to<std::string_view>;
  { C::declare(scope, n, n) } -> std::same_as<typename C::Weights>;
  { C::declare(scope, n, n).weight_ih } -> std::convertible_to<Parameter>;
  { C::declare(scope, n, n).bias_ih } -> std::convertible_to<Parameter>;
};

}  // namespace detail

/// One recurrent step and its parameters. Models: `Gru`, `GruResetBefore`, `Lstm`, `Rnn`, `LayerNorm<Cell>`.
///
/// 1. `name` is what a model file calls it; `parts` counts the arrays of its state, `part_names` names them
///    ("h", then e.g. "c").
/// 2. `Weights` holds at least `weight_ih` and `bias_ih`; `declare(scope, inputs, hidden)` makes them.
/// 3. The input enters only through `W_ih x + b_ih` [rows, gates · hidden]. The caller computes that, for all
///    steps at once where it can.
/// 4. `step(weights, projected, state)` takes it and the state before to the state after, on the tape of its
///    arguments. It may be called with fewer rows than before: sentences that have ended drop out.
/// 5. `uses_up_input`, where it is there and true, says that the step takes the product over with
///    `tape.take(projected)`, and keeps its own values or gradients there: the caller then makes it as
///    `Result::given`, which spares a copy.
/// 6. `one_step_per_token`, where it is there and true, says that its steps count tokens, as a clock's do: a
///    decoder that steps a cell twice per token (`Conditional`) refuses it when it is compiled. All others
///    can be stepped any number of times, with weights that are declared for each.
template <class C>
concept Cell = detail::DeclaresCell<C> &&
    requires(const typename C::Weights& weights, const Variable<AnyBackend>& projected,
             const CellState<C, AnyBackend>& state) {
  { C::step(weights, projected, state) } -> std::same_as<CellState<C, AnyBackend>>;
};

/// The same with the step on one backend, for a cell that has it there alone.
template <class C, class B>
concept CellOn = detail::DeclaresCell<C> && Backend<B> &&
    requires(const typename C::Weights& weights, const Variable<B>& projected, const CellState<C, B>& state) {
  { C::step(weights, projected, state) } -> std::same_as<CellState<C, B>>;
};

namespace detail {

/// How the caller makes a cell's input product: a cell that says `uses_up_input` may take it over.
template <DeclaresCell C>
constexpr Result input_product() {
  if constexpr (requires { requires C::uses_up_input; })
    return Result::given;
  else
    return Result::kept;
}

/// `C::step`. Throws unless it returns each part of the state, of the shape that it had.
template <class C, Backend B>
CellState<C, B> step_cell(const typename C::Weights& weights, const Variable<B>& projected,
                          const CellState<C, B>& state) {
  CellState<C, B> next = C::step(weights, projected, state);
  for (std::size_t p = 0; p < C::parts; ++p)
    if (next[p].tape == nullptr || next[p].shape != state[p].shape)
      refuse_array(
          "cell", C::name,
          std::string("part ").append(quote(C::part_names[p])).append(" ").append(state[p].shape.text()),
          next[p].tape == nullptr ? nullptr : &next[p].shape, "step returns all parts of the state");
  return next;
}

}  // namespace detail

}  // namespace bahdanau
