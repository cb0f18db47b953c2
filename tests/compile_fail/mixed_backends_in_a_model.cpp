// error: bahdanau: models of different backends do not mix; encode and decode with one model, and move
// weights between backends with save and load
#include <bahdanau/bahdanau.hpp>

namespace bd = bahdanau;

int main() {
  const bd::Vocabularies vocabularies{bd::Vocabulary::numbered(10), bd::Vocabulary::numbered(10), {}};
  const bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Xtensor<float>> floats({}, vocabularies);
  const bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Xtensor<double>> doubles({}, vocabularies);
  doubles.init_state(floats.encode({}));
}
