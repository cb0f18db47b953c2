// The program of the page "Start here".
#include <iostream>
#include <vector>

#include <bahdanau/bahdanau.hpp>
namespace bd = bahdanau;

using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Xtensor<float>>;  // cell, score, backend

int main() {
  const std::vector<bd::SentencePair> pairs{{"Go.", "Va !"},
                                            {"I lost.", "J'ai perdu."},
                                            {"He's calm.", "Il est calme."},
                                            {"I'm home.", "Je suis chez moi."}};
  const auto corpus = bd::Corpus::from_pairs(pairs, {.min_frequency = 1, .max_length = 10});

  Model model({.embed = 16, .hidden = 16, .layers = 1}, corpus.vocabularies(), /*seed=*/1);
  bd::Trainer trainer(model, bd::Adam{.rate = 0.01}, {.epochs = 150, .batch = 4});
  trainer.fit(corpus);

  const bd::Translation t = model.translate("I'm home.");
  std::cout << t.text << '\n';
  for (const std::string& token : t.target) std::cout << token << ' ';
  std::cout << "from " << t.source.size() << " source tokens\n";
}
