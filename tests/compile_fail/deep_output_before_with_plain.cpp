// error: bahdanau: this readout (DeepOutput<500>, say) reads the state before the step, and this decoder does
// not attend before it; use AttendThenStep, or DeepOutput<500, OutputState::after>
#include <bahdanau/bahdanau.hpp>

namespace bd = bahdanau;

using Model = bd::EncoderDecoder<bd::Gru, bd::NoScore, bd::Xtensor<float>, bd::Plain, bd::DeepOutput<8>>;

int main() {
  Model model({.embed = 8, .hidden = 16}, {bd::Vocabulary::numbered(10), bd::Vocabulary::numbered(10), {}});
}
