// The program of the README: from a file of sentence pairs to a translation, its attention and a model file.
#include <iostream>

#include <bahdanau/bahdanau.hpp>
namespace bd = bahdanau;

using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Xtensor<float>>;  // cell, score, backend

int main() {
  auto corpus = bd::Corpus::read("eng-fra.tsv", {.min_frequency = 2, .max_length = 10});
  Model model({.embed = 32, .hidden = 32, .layers = 2, .dropout = 0.1f}, corpus.vocabularies(), /*seed=*/2);

  bd::Trainer trainer(model, bd::Adam{.rate = 0.005f}, {.epochs = 100, .batch = 64, .clip = 1.0f});
  trainer.fit(corpus);  // progress bar, loss, tokens/s

  bd::Translation t = model.translate("he's calm .");  // greedy; bd::Beam{.width = 5} for beam search
  std::cout << t.text << '\n' << bd::plot::heatmap_text(t, /*colour=*/false);
  bd::plot::heatmap("attention.svg", t);  // t.attention is [target, source]
  model.save("eng-fra.safetensors");      // PyTorch opens it
}
