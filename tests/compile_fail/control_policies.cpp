// compiles
#include <array>
#include <string_view>

#include <bahdanau/bahdanau.hpp>

namespace bd = bahdanau;

/// A step whose type follows from its body, which is compiled then.
struct Deduced {
  static constexpr std::string_view name = "deduced";
  static constexpr std::size_t parts = 1;
  static constexpr std::array<std::string_view, parts> part_names{"h"};
  using Weights = bd::RecurrentWeights;
  static Weights declare(bd::Scope scope, std::size_t inputs, std::size_t hidden) {
    return Weights::declare(scope, 1, inputs, hidden);
  }
  template <class B>
  static auto step(const Weights& weights, const bd::Variable<B>& projected,
                   const std::array<bd::Variable<B>, 1>& state) {
    bd::Tape<B>& tape = *projected.tape;
    const auto h = tanh(projected + linear(state[0], tape[weights.weight_hh], tape[weights.bias_hh]));
    return bd::CellState<Deduced, B>{maximum(h, state[0])};
  }
};
static_assert(bd::Cell<Deduced>);

/// A step for one backend alone: enough for a model there.
struct OneBackend : Deduced {
  using B = bd::Xtensor<float>;
  static bd::CellState<Deduced, B> step(const Weights& weights, const bd::Variable<B>& projected,
                                        const bd::CellState<Deduced, B>& state) {
    return Deduced::step(weights, projected, state);
  }
};
static_assert(!bd::Cell<OneBackend> && bd::CellOn<OneBackend, bd::Xtensor<float>>);

int main() {
  bd::EncoderDecoder<OneBackend, bd::Additive, bd::Xtensor<float>> model(
      {.embed = 8, .hidden = 16}, {bd::Vocabulary::numbered(10), bd::Vocabulary::numbered(10), {}});
}
