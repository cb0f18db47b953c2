// shows: C::step(weights, projected, state)
#include <array>
#include <string_view>

#include <bahdanau/cell/cell.hpp>

namespace bd = bahdanau;

/// Its step gives h alone in place of a state.
struct Bare {
  static constexpr std::string_view name = "bare";
  static constexpr std::size_t parts = 1;
  static constexpr std::array<std::string_view, parts> part_names{"h"};
  using Weights = bd::RecurrentWeights;
  static Weights declare(bd::Scope, std::size_t, std::size_t);
  template <bd::Backend B>
  static bd::Variable<B> step(const Weights&, const bd::Variable<B>&, const bd::CellState<Bare, B>&);
};
static_assert(bd::Cell<Bare>);
