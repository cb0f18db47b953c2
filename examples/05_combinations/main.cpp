// The exercises of d2l's chapter: the LSTM for the GRU, the scaled dot product for the additive score.
// All four combinations are trained alike and set side by side. Usage: example_05_combinations [DATA]
// [EPOCHS]
#include <chrono>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include <bahdanau/bahdanau.hpp>

namespace bd = bahdanau;

/// Trains one combination, and prints a row of the table; BLEU is that of the training sentences.
template <class Cell, class Score>
void row(const bd::Corpus& corpus, const std::vector<bd::SentencePair>& pairs, std::size_t epochs) {
  using Model = bd::EncoderDecoder<Cell, Score, bd::Xtensor<float>>;
  Model model({.embed = 32, .hidden = 32, .layers = 2, .dropout = 0.1F}, corpus.vocabularies(), /*seed=*/1);
  const auto start = std::chrono::steady_clock::now();
  const auto report =
      bd::Trainer(model, bd::Adam{.rate = 0.005},
                  {.epochs = epochs, .batch = 64, .clip = 1, .progress = bd::Progress::silent})
          .fit(corpus);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::vector<std::string> sources;
  for (const auto& pair : pairs) sources.push_back(pair.source);
  const std::vector<bd::Translation> translations = model.translate(sources);
  bd::CorpusBleu bleu;
  const auto& text = corpus.vocabularies().text;
  for (std::size_t i = 0; i < pairs.size(); ++i)
    bleu.add(bd::tokenize(translations[i].text, {.tokens = bd::Tokens::none}),
             bd::tokenize(pairs[i].target, text));
  std::printf("%-5s %-11s %8.4f %9.1f %10.0f %8.1f\n", Cell::name.data(), Score::name.data(),
              report.epochs.back().training.d2l(), seconds,
              static_cast<double>(corpus.target_tokens() * epochs) / seconds, bleu.score());
}

int main(int argc, char** argv) try {
  const std::string data = argc > 1 ? argv[1] : "eng-fra.tsv";
  const std::size_t epochs = argc > 2 ? std::stoul(argv[2]) : 100;
  const auto corpus = bd::Corpus::read(data, {.max_pairs = 600, .min_frequency = 2, .max_length = 10});
  std::vector<bd::SentencePair> pairs;
  bd::PairReader reader{std::filesystem::path(data)};
  for (bd::SentencePair pair; pairs.size() < corpus.size() && reader.next(pair);) pairs.push_back(pair);
  std::printf("%zu pairs, %zu epochs\n\n%-5s %-11s %8s %9s %10s %8s\n", corpus.size(), epochs, "cell",
              "score", "loss", "seconds", "tokens/s", "BLEU");
  row<bd::Gru, bd::Additive>(corpus, pairs, epochs);
  row<bd::Gru, bd::ScaledDot>(corpus, pairs, epochs);
  row<bd::Lstm, bd::Additive>(corpus, pairs, epochs);
  row<bd::Lstm, bd::ScaledDot>(corpus, pairs, epochs);
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
