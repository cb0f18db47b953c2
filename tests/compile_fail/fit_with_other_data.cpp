// error: bahdanau: Trainer::fit needs a Corpus, or data with size(), make_batch(data, examples) that gives
// the model's Batch, length_of(data, i) and fingerprint(data); see TrainingData in train/trainable.hpp
#include <bahdanau/bahdanau.hpp>

namespace bd = bahdanau;
using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Xtensor<float>>;

int main() {
  Model model({.embed = 8, .hidden = 16}, {bd::Vocabulary::numbered(10), bd::Vocabulary::numbered(10), {}});
  bd::Trainer(model, bd::Adam{}).fit(std::vector<int>{1, 2});
}
