// The program of the README: from a file of sentence pairs to a translation, its attention and a model file.
#include <iostream>

#include <bahdanau/bahdanau.hpp>
namespace bd = bahdanau;

using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Xtensor<float>>;  // cell, score, backend

int main() {
  auto corpus = bd::Corpus::read("eng-fra.tsv", {.min_frequency = 2});
  Model model({.embed = 64, .hidden = 64, .layers = 1}, corpus.vocabularies(), /*seed=*/1);

  bd::Trainer trainer(model, bd::AdamW{.rate = 0.005f, .decay = 0.5f}, {.epochs = 50, .batch = 64});
  trainer.fit(corpus);  // progress bar, loss, tokens/s

  bd::Translation t = model.translate("she found a blue coat .");  // greedy; or bd::Beam{.width = 5}
  std::cout << t.text << '\n' << bd::plot::heatmap_text(t, /*colour=*/false);
  bd::plot::heatmap("attention.svg", t);  // t.attention is [target, source]
  model.save("eng-fra.safetensors");      // PyTorch opens it
}
