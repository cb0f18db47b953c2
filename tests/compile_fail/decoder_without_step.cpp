// error: bahdanau: this decoder has no Network<Cell> made from (Scope, DecoderSizes) with output_width(),
// State with each(f), start(tape, first, state), known(tokens) and step(step, known, state); write them as
// points 2 to 5 of bahdanau::Decoder say (model/decoder.hpp)
#include <bahdanau/bahdanau.hpp>

namespace bd = bahdanau;

struct Idle {
  static constexpr std::string_view name = "idle";
  static constexpr bool attends_before_step = false;
  template <class Cell>
  struct Network : bd::StepThenAttend::Network<Cell> {
    using bd::StepThenAttend::Network<Cell>::Network;
    void step() const;
  };
};

using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Xtensor<float>, Idle>;

int main() {
  Model model({.embed = 8, .hidden = 16}, {bd::Vocabulary::numbered(10), bd::Vocabulary::numbered(10), {}});
}
