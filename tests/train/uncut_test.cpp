#include <array>
#include <string>
#include <vector>

#include <bahdanau/bahdanau.hpp>

#include "support/backends.hpp"
#include "support/catch.hpp"
#include "support/message.hpp"
#include "support/sequences.hpp"

namespace bd = bahdanau;
using namespace bd::test;

namespace {

using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, bd::test::TestBackend<float>>;

/// Dates as people write them, and as a machine does: "7 march 1998" and "1998-03-07".
std::vector<bd::SentencePair> dates(std::size_t count) {
  constexpr std::array<const char*, 12> months{"january",   "february", "march",    "april",
                                               "may",       "june",     "july",     "august",
                                               "september", "october",  "november", "december"};
  const auto two = [](std::size_t number) {
    return std::string(number < 10 ? "0" : "") + std::to_string(number);
  };
  std::vector<bd::SentencePair> out;
  for (std::size_t i = 0; i < count; ++i) {
    const auto draw = [key = bd::random::Key{7}.derive(i)](std::size_t which, std::size_t choices) {
      return static_cast<std::size_t>(key.bits(which) % choices);
    };
    const std::size_t day = 1 + draw(1, 28), month = draw(2, 12);
    const std::string year = std::to_string(1990 + draw(3, 20));
    out.push_back({std::to_string(day) + " " + months[month] + " " + year,
                   year + "-" + two(month + 1) + "-" + two(day)});
  }
  return out;
}

constexpr bd::Tokens characters = bd::Tokens::characters;

}  // namespace

TEST_CASE("without a max_length no row is cut, and a model learns the ends of long ones",
          "[train][corpus][slow]") {
  const std::vector<bd::SentencePair> pairs = dates(300);
  const auto corpus = bd::Corpus::from_pairs(pairs, {.min_frequency = 1, .tokens = characters});
  CHECK(corpus.cut_rows() == 0);
  CHECK(corpus.target_tokens() == 300 * 11);  // ten characters and <eos>
  Model model({.embed = 16, .hidden = 32, .layers = 1}, corpus.vocabularies(), 1);
  bd::Trainer trainer(model, bd::Adam{.rate = 0.01},
                      {.epochs = 60, .batch = 32, .progress = bd::Progress::silent});
  const bd::TrainingReport report = trainer.fit(corpus);
  CHECK(report.epochs.back().training.tokens == corpus.target_tokens());
  std::size_t right = 0;
  for (const bd::SentencePair& pair : pairs)
    right += model.translate(pair.source).text == pair.target ? 1 : 0;
  CHECK(right >= 285);  // rows cut after ten tokens give 0
}

TEST_CASE("a max_length cuts rows and counts them", "[train][corpus]") {
  const std::vector<bd::SentencePair> pairs = dates(300);
  const auto corpus =
      bd::Corpus::from_pairs(pairs, {.min_frequency = 1, .max_length = 10, .tokens = characters});
  std::size_t longer = 0;
  for (const bd::SentencePair& pair : pairs)
    for (const std::string& side : {pair.source, pair.target})
      longer += bd::tokenize(side, {.tokens = characters}).size() + 1 > 10 ? 1 : 0;
  CHECK(longer > 300);  // every target is, and sources too
  CHECK(corpus.cut_rows() == longer);
  CHECK(corpus.target_tokens() == 300 * 10);
  for (const auto& row : corpus.source()) CHECK(row.size() <= 10);
}

TEST_CASE("a loss is divided by max_length, and by d2l's 10 without one", "[train][loss]") {
  const bd::Batch batch{random_sequences(5, 14, 9, 1), random_sequences(5, 14, 11, 2)};
  for (const std::size_t max_length : {std::size_t{0}, std::size_t{10}, std::size_t{25}}) {
    Model model({.embed = 5, .hidden = 6, .layers = 1}, numbered(9, 11, max_length), 5);
    const std::size_t divisor = max_length == 0 ? 10 : max_length;
    CHECK(model.max_length() == max_length);
    CHECK(model.loss_divisor() == divisor);
    bd::Training training(model);
    const bd::Loss loss = training.loss(batch);
    CHECK(loss.sum == Approx(loss.nats / static_cast<double>(divisor)));
  }
}
