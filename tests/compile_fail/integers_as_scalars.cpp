// error: bahdanau: Xtensor<T> needs T = float or T = double
#include <bahdanau/bahdanau.hpp>

namespace bd = bahdanau;

using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Xtensor<int>>;

int main() {
  Model model({.embed = 8, .hidden = 16}, {bd::Vocabulary::numbered(10), bd::Vocabulary::numbered(10), {}});
}
