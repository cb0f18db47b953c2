// error: bahdanau: the heads of a MultiHead compare by scaled dot products; use MultiHead<ScaledDot, 4>
#include <bahdanau/bahdanau.hpp>

namespace bd = bahdanau;

using Model = bd::EncoderDecoder<bd::Gru, bd::MultiHead<bd::Additive, 4>, bd::Xtensor<float>>;

int main() {
  Model model({.embed = 8, .hidden = 16}, {bd::Vocabulary::numbered(10), bd::Vocabulary::numbered(10), {}});
}
