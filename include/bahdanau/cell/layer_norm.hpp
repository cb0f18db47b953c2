// A cell with layer normalisation (Ba, Kiros and Hinton, 2016): a wrapper around a cell whose step is a sum
// of what its input and its state contribute, and gates. Both are normalised, each with a gain and bias of
// its own.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <string_view>

#include <bahdanau/cell/cell.hpp>
#include <bahdanau/nn/fixed_name.hpp>

namespace bahdanau {

/// The gain and bias of a normalisation, each [width]; at first 1 and 0.
struct NormWeights {
  Parameter gain, bias;

  /// Under PyTorch's names, behind those of the layer: `norm_ih_l0.weight` and `norm_ih_l0.bias`.
  static NormWeights declare(const Scope& scope, std::string_view name, std::size_t width) {
    return {scope.in("", ".weight").add(name, {width}, Initializer::constant(1)),
            scope.in("", ".bias").add(name, {width}, Initializer::zeros())};
  }
};

/// The parameters of a normalised cell: the cell's own, and those of its normalisations.
template <class Weights>
struct LayerNormWeights : Weights {
  NormWeights norm_ih, norm_hh;  // [gates · hidden]
  NormWeights norm_c;            // [hidden], of a cell with a memory
};

namespace detail {

/// What `combine` of a cell with a memory is called with, where only the types matter.
struct AnyMemory {
  template <Backend B>
  Variable<B> operator()(const Variable<B>& c) const;
};

/// Whether a cell's step can be split: `combine(x, u, state)` are its gates, from x = W_ih x + b_ih and u =
/// W_hh h + b_hh [rows, gates · hidden], both given; with a memory that is squashed on its way to h,
/// `combine(x, u, state, memory)`, where memory(c') is to be squashed in place of c'.
template <class C, class B>
concept CombinesMemory = requires(const Variable<B>& x, const CellState<C, B>& state) {
  { C::combine(x, x, state, AnyMemory{}) } -> std::same_as<CellState<C, B>>;
};
template <class C, class B>
concept Combines = DeclaresCell<C> && requires {
  { C::gates } -> std::convertible_to<std::size_t>;
  requires std::same_as<typename C::Weights, RecurrentWeights>;
} &&(CombinesMemory<C, B> || requires(const Variable<B>& x, const CellState<C, B>& state) {
  { C::combine(x, x, state) } -> std::same_as<CellState<C, B>>;
});

}  // namespace detail

/// A cell with layer normalisation, for `Gru`, `Lstm`, `Rnn`, and a cell of one's own that has `combine` as
/// they do.
/// With LN(v) = g ⊙ (v - μ) / √(σ² + 1e-5) + b over all of a row's numbers,
///
///     x̃ = LN_ih(W_ih x + b_ih)                    [gates · hidden]
///     ũ = LN_hh(W_hh h + b_hh)                    [gates · hidden]
///
/// and the cell's own gates of x̃ and ũ in place of the products: for `Gru`
///
///     r = σ(x̃_r + ũ_r), z = σ(x̃_z + ũ_z), n = tanh(x̃_n + r ⊙ ũ_n), h' = (1 - z) ⊙ n + z ⊙ h,
///
/// for `Lstm`, whose memory goes on as it is and is normalised where h reads it,
///
///     i, f, o = σ(x̃ + ũ), g = tanh(x̃_g + ũ_g), c' = f ⊙ c + i ⊙ g, h' = o ⊙ tanh LN_c(c').
///
/// Each normalisation is over all gates together, as the paper's LSTM has it; biases are inside.
/// Tensors beside the cell's: `norm_ih_l0.weight`, `.bias`, `norm_hh_l0…`, and `norm_c_l0…` for `Lstm`.
template <class C>
struct LayerNorm {
  static_assert(
      detail::Combines<C, AnyBackend>,
      "bahdanau: LayerNorm<Cell> needs a cell whose gates can be computed from W_ih x + b_ih and W_hh h + "
      "b_hh alone, by combine(x, u, state); use LayerNorm<Gru>, LayerNorm<Lstm> or LayerNorm<Rnn>, or write "
      "combine as they do (cell/layer_norm.hpp)");
  // Only so that a wrong combination prints its one sentence and no more.
  static constexpr std::string_view name = "layer_norm";
  static constexpr std::size_t parts = C::parts;
  static constexpr auto part_names = C::part_names;
  using Weights = typename C::Weights;
  static Weights declare(Scope scope, std::size_t inputs, std::size_t hidden) {
    return C::declare(scope, inputs, hidden);
  }
  template <Backend B>
  static CellState<LayerNorm, B> step(const Weights&, const Variable<B>&, const CellState<LayerNorm, B>&) {
    return {};
  }
};

template <class C>
requires detail::Combines<C, AnyBackend>
struct LayerNorm<C> {
  static constexpr auto spelled = fixed_name("layer_norm(", C::name, ")");
  static constexpr std::string_view name = spelled;
  static constexpr std::size_t gates = C::gates;
  static constexpr std::size_t parts = C::parts;
  static constexpr std::array<std::string_view, parts> part_names = C::part_names;
  using Weights = LayerNormWeights<typename C::Weights>;

  static Weights declare(Scope scope, std::size_t inputs, std::size_t hidden) {
    Weights w{C::declare(scope, inputs, hidden),
              NormWeights::declare(scope, "norm_ih", gates * hidden),
              NormWeights::declare(scope, "norm_hh", gates * hidden),
              {}};
    if constexpr (detail::CombinesMemory<C, AnyBackend>)
      w.norm_c = NormWeights::declare(scope, "norm_c", hidden);
    return w;
  }

  /// projected [rows, gates · hidden] and the state to the state after.
  template <Backend B>
  static CellState<LayerNorm, B> step(const Weights& w, const Variable<B>& projected,
                                      const CellState<LayerNorm, B>& state) {
    const auto norm = [](const NormWeights& n, const Variable<B>& v, Result result) {
      return layer_norm(v, n.gain, n.bias, result);
    };
    const Variable<B> x = norm(w.norm_ih, projected, Result::given);
    const Variable<B> u = norm(w.norm_hh, linear(hidden(state), w.weight_hh, w.bias_hh), Result::given);
    if constexpr (detail::CombinesMemory<C, AnyBackend>)
      return C::combine(x, u, state, [&](const Variable<B>& c) { return norm(w.norm_c, c, Result::kept); });
    else
      return C::combine(x, u, state);
  }
};

}  // namespace bahdanau
