// error: bahdanau: the optimizer of a training is Adam, AdamW, Sgd, Adadelta, or a struct that models
// OptimizerOn (train/optimizer.hpp)
#include <bahdanau/bahdanau.hpp>

namespace bd = bahdanau;
using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Xtensor<float>>;

struct Guess {
  float rate = 1;
};

int main() {
  Model model({.embed = 8, .hidden = 16}, {bd::Vocabulary::numbered(10), bd::Vocabulary::numbered(10), {}});
  bd::Training training(model, Guess{});
}
