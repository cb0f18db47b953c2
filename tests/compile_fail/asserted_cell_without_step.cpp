// shows: C::step(weights, projected, state)
#include <array>
#include <string_view>

#include <bahdanau/cell/cell.hpp>

namespace bd = bahdanau;

struct Lazy {
  static constexpr std::string_view name = "lazy";
  static constexpr std::size_t parts = 1;
  static constexpr std::array<std::string_view, parts> part_names{"h"};
  using Weights = bd::RecurrentWeights;
  static Weights declare(bd::Scope, std::size_t, std::size_t);
};
static_assert(bd::Cell<Lazy>);
