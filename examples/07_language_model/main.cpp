// Training is not for translation alone: a language model of fifty lines learns English sentences, with the
// same threads, checkpoints and bits as any other model. language_model.hpp is the whole of it.
#include <cmath>
#include <cstdio>

#include "language_model.hpp"

int main() {
  const auto [corpus, held_out] =
      bd::Corpus::read("eng-fra.tsv", {.min_frequency = 2}).split(120, /*seed=*/1);
  LanguageModel<bd::Lstm, bd::Xtensor<float>> model(corpus.vocabularies().source.size(), /*width=*/32, 1);
  bd::Trainer trainer(model, bd::Adam{.rate = 0.005}, {.epochs = 10, .clip = 1});
  const auto epochs = trainer.fit(corpus, held_out).epochs;
  const auto perplexity = [&](std::size_t e) { return std::exp(epochs[e].validation->nats_per_token()); };
  std::printf("perplexity of sentences it has not seen: %.0f after an epoch, %.0f after ten\n", perplexity(0),
              perplexity(9));
  return perplexity(9) < perplexity(0) / 2 ? 0 : 1;
}
