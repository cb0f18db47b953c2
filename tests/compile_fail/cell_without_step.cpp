// error: bahdanau: this cell has no step(weights, projected, state) that returns its CellState; write it as
// point 4 of bahdanau::Cell says (cell/cell.hpp)
#include <bahdanau/bahdanau.hpp>

namespace bd = bahdanau;

struct Lazy {
  static constexpr std::string_view name = "lazy";
  static constexpr std::size_t parts = 1;
  static constexpr std::array<std::string_view, parts> part_names{"h"};
  using Weights = bd::RecurrentWeights;
  static Weights declare(bd::Scope scope, std::size_t inputs, std::size_t hidden) {
    return Weights::declare(scope, 1, inputs, hidden);
  }
};
using Model = bd::EncoderDecoder<Lazy, bd::Additive, bd::Xtensor<float>>;

int main() {
  Model model({.embed = 8, .hidden = 16}, {bd::Vocabulary::numbered(10), bd::Vocabulary::numbered(10), {}});
}
