// error: bahdanau: Local needs a score that compares single pairs; use it with General, Dot, ScaledDot or
// Additive
#include <bahdanau/bahdanau.hpp>

namespace bd = bahdanau;

using Model = bd::EncoderDecoder<bd::Gru, bd::Local<bd::MultiHead<bd::ScaledDot, 2>, 10>, bd::Xtensor<float>>;

int main() {
  Model model({.embed = 8, .hidden = 16}, {bd::Vocabulary::numbered(10), bd::Vocabulary::numbered(10), {}});
}
