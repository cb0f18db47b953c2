// error: bahdanau: the fourth argument of EncoderDecoder is not an encoder; use Unidirectional,
// Bidirectional, or a struct that models bahdanau::Encoder (model/encoder.hpp)
#include <bahdanau/bahdanau.hpp>

namespace bd = bahdanau;

using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Xtensor<float>, bd::Gru>;

int main() {
  Model model({.embed = 8, .hidden = 16}, {bd::Vocabulary::numbered(10), bd::Vocabulary::numbered(10), {}});
}
