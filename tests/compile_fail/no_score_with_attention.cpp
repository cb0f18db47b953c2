// error: bahdanau: NoScore is for decoders that do not attend, and this one does (AttendThenStep, unless
// another is named); use Plain or FixedContext, or a score, Additive say
#include <bahdanau/bahdanau.hpp>

namespace bd = bahdanau;

using Model = bd::EncoderDecoder<bd::Gru, bd::NoScore, bd::Xtensor<float>>;

int main() {
  Model model({.embed = 8, .hidden = 16}, {bd::Vocabulary::numbered(10), bd::Vocabulary::numbered(10), {}});
}
