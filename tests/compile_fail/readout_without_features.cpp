// error: bahdanau: this readout lacks Weights, declare(scope, sizes), width(sizes) or features(weights,
// features); write them as points 3 and 4 of bahdanau::Readout say (model/readout.hpp)
#include <bahdanau/bahdanau.hpp>

namespace bd = bahdanau;

struct Mute {
  static constexpr std::string_view name = "mute";
  static constexpr bd::ReadoutInputs reads{};
  struct Weights {};
  static std::size_t width(const bd::ReadoutSizes& sizes) { return sizes.state; }
  static Weights declare(bd::Scope, const bd::ReadoutSizes&) { return {}; }
};

using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Xtensor<float>, Mute>;

int main() {
  Model model({.embed = 8, .hidden = 16}, {bd::Vocabulary::numbered(10), bd::Vocabulary::numbered(10), {}});
}
