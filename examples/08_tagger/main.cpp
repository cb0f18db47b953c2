// A sequence tagger on one's own data: it learns where the words of English without spaces begin.
#include <cmath>
#include <cstdio>

#include "tagger.hpp"

int main() {
  Tagged sentences;
  bd::PairReader file("eng-fra.tsv");
  for (bd::SentencePair pair; file.next(pair);) {
    auto& letters = sentences.tokens.emplace_back();
    auto& begins = sentences.tags.emplace_back();  // 1 where a word does
    for (std::size_t i = 0; i < pair.source.size(); ++i) {
      if (pair.source[i] == ' ') continue;
      letters.push_back(static_cast<unsigned char>(pair.source[i]));
      begins.push_back(i == 0 || pair.source[i - 1] == ' ');
    }
  }
  Tagger<bd::Gru, bd::Xtensor<float>> model(/*tokens=*/256, /*tags=*/2, /*width=*/24, /*seed=*/1);
  bd::Trainer trainer(model, bd::Adam{.rate = 0.01}, {.epochs = 5, .clip = 1});
  const double nats = trainer.fit(sentences).epochs.back().training.nats_per_token();
  std::printf("a letter's tag is right with a probability of %.3f\n", std::exp(-nats));
  return std::exp(-nats) > 0.9 ? 0 : 1;
}
