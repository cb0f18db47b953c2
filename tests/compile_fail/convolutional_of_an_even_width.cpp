// error: bahdanau: a Convolutional encoder has at least one layer and an odd width, so that each window has a
// middle; use Convolutional<6, 3>, say
#include <bahdanau/bahdanau.hpp>

namespace bd = bahdanau;

using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Xtensor<float>, bd::Convolutional<6, 4>>;

int main() {
  Model model({.embed = 8, .hidden = 16}, {bd::Vocabulary::numbered(10), bd::Vocabulary::numbered(10), {}});
}
