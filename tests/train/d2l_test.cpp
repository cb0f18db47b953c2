#include <utility>
#include <vector>

#include <bahdanau/bahdanau.hpp>

#include "support/backends.hpp"
#include "support/catch.hpp"
#include "support/data.hpp"

namespace bd = bahdanau;
using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Xtensor<float>>;

TEST_CASE("d2l's experiment gives d2l's result", "[train][data][d2l][slow]") {
  const auto data = bd::test::french_pairs();
  if (data.empty()) return;
  const auto corpus = bd::Corpus::read(data, {.max_pairs = 600, .min_frequency = 2, .max_length = 10});
  Model model({.embed = 32, .hidden = 32, .layers = 2, .dropout = 0.1F}, corpus.vocabularies(), 0);
  bd::Trainer trainer(model, bd::Adam{.rate = 0.005},
                      {.epochs = 250, .batch = 64, .clip = 1, .progress = bd::Progress::silent});
  CHECK(trainer.fit(corpus).epochs.back().training.d2l() <= 0.021);
  const auto bleu = [&](const std::string& source, const std::string& label) {
    const bd::Translation t = model.translate(source);
    INFO(source << " -> " << t.text);
    return bd::sentence_bleu(std::string_view(t.text), std::string_view(label), 2);
  };
  CHECK(bleu("go .", "va !") == 1);
  CHECK(bleu("i lost .", "j'ai perdu .") == 1);
  CHECK(bleu("i'm home .", "je suis chez moi .") == 1);
}

TEST_CASE("d2l's experiment gives one model, whatever the number of threads",
          "[train][data][d2l][slow][threads][bits]") {
  const auto data = bd::test::french_pairs();
  if (data.empty()) return;
  const auto corpus = bd::Corpus::read(data, {.max_pairs = 600, .min_frequency = 2, .max_length = 10});
  const auto trained = [&](std::size_t threads) {
    Model model({.embed = 32, .hidden = 32, .layers = 2, .dropout = 0.1F}, corpus.vocabularies(), 0);
    bd::Trainer trainer(
        model, bd::Adam{.rate = 0.005},
        {.epochs = 100, .batch = 64, .clip = 1, .threads = threads, .progress = bd::Progress::silent});
    trainer.fit(corpus);
    return bd::test::numbers_of(std::as_const(model).weights());
  };
  const std::vector<float> alone = trained(1);
  for (const std::size_t threads : {2U, 3U, 2U, 3U, 2U, 3U, 8U}) {
    INFO(threads << " threads");
    CHECK((trained(threads) == alone));
  }
}
