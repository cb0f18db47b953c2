// The program of the page on the GPU: on Thrust where there is one, else on the CPU backend.
#include <iostream>
#include <vector>

#ifdef BAHDANAU_DOCS_THRUST
#include <bahdanau/backend/thrust.hpp>
#include <bahdanau/bahdanau.hpp>
namespace bd = bahdanau;

using Backend = bd::Thrust<float>;  // was: bd::Xtensor<float>
#else
#include <bahdanau/bahdanau.hpp>
namespace bd = bahdanau;

using Backend = bd::Xtensor<float>;
#endif

using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, Backend>;

int main() {
  const std::vector<bd::SentencePair> pairs{{"go .", "va !"}, {"i lost .", "j'ai perdu ."}};
  const auto corpus = bd::Corpus::from_pairs(pairs, {.min_frequency = 1});
  Model model({.embed = 16, .hidden = 16, .layers = 1}, corpus.vocabularies(), /*seed=*/1);
  bd::Trainer(model, bd::Adam{.rate = 0.01}, {.epochs = 100, .progress = bd::Progress::silent}).fit(corpus);
  const bd::Translation t = model.translate("i lost .");
  std::cout << Backend::name << ": " << t.text << '\n';
  return t.text == "j'ai perdu ." ? 0 : 1;
}
