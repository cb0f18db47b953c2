// error: bahdanau: this state belongs to a model with another cell; encode and decode with one model
#include <bahdanau/bahdanau.hpp>

namespace bd = bahdanau;

int main() {
  const bd::Vocabularies vocabularies{bd::Vocabulary::numbered(10), bd::Vocabulary::numbered(10), {}};
  const bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Xtensor<float>> gru({}, vocabularies);
  const bd::EncoderDecoder<bd::Lstm, bd::Additive, bd::Xtensor<float>> lstm({}, vocabularies);
  lstm.init_state(gru.encode({}));
}
