// error: bahdanau: an EncoderDecoder has one readout, and this one is given several; name one of them
#include <bahdanau/bahdanau.hpp>

namespace bd = bahdanau;

using Model =
    bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Xtensor<float>, bd::TanhReadout, bd::DeepOutput<8>>;

int main() {
  Model model({.embed = 8, .hidden = 16}, {bd::Vocabulary::numbered(10), bd::Vocabulary::numbered(10), {}});
}
