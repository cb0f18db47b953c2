// The program of the page on several processes; what it shows runs in one.
#include <cstdio>
#include <iostream>

#include <bahdanau/bahdanau.hpp>

namespace bd = bahdanau;

using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Xtensor<float>>;

int main() {
  const auto corpus = bd::Corpus::read("eng-fra.tsv", {.max_pairs = 200, .min_frequency = 2});
  const auto trained = [&](std::size_t replicas) {
    Model model({.embed = 16, .hidden = 16, .layers = 1}, corpus.vocabularies(), /*seed=*/1);
    bd::Trainer trainer(model, bd::Adam{.rate = 0.01},
                        {.epochs = 3, .batch = 64, .progress = bd::Progress::silent, .replicas = replicas});
    return trainer.fit(corpus).epochs.back().training.nats_per_token();
  };
  std::printf("after 3 epochs: %.2f nats per token, and %.2f with 8 replicas\n", trained(1), trained(8));

  const auto words = bd::Corpus::read("eng-fra.tsv", {.max_pairs = 1000}).vocabularies();  // of a part of it
  const auto file = bd::CorpusFile::open("eng-fra.tsv", words);  // all pairs stay where they are
  Model model({.embed = 16, .hidden = 16, .layers = 1}, words, /*seed=*/1);
  bd::Trainer(model, bd::Adam{}, {.epochs = 1, .batch = 512, .progress = bd::Progress::silent}).fit(file);
  std::cout << "trained on " << file.size() << " pairs of a file\n";
}
