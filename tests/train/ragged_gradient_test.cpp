// Batches of which one shard is nearly of one length and others are ragged: shards that are added up in
// different ways, which once were two pieces of work that wrote to the same memory.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <bahdanau/bahdanau.hpp>

#include "support/backends.hpp"
#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/sequences.hpp"
#include "support/watched.hpp"

namespace bd = bahdanau;
using namespace bd::test;

namespace {

using Backend = Watched<double>;
using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, Backend, bd::Bidirectional>;

std::vector<bd::Token> row_of(std::size_t length, bd::random::Key key) {
  std::vector<bd::Token> row;
  for (std::size_t t = 0; t + 1 < length; ++t) row.push_back(4 + static_cast<bd::Token>(key.uniform(t) * 20));
  row.push_back(bd::reserved::eos);
  return row;
}

/// 32 rows of 19 or 20 tokens, then 64 of 1 to 20.
bd::Sequences one_even_shard(std::uint64_t seed) {
  std::vector<std::vector<bd::Token>> rows;
  for (std::size_t r = 0; r < 96; ++r) {
    const bd::random::Key key = bd::random::Key{seed}.derive(r);
    const auto ragged = 1 + static_cast<std::size_t>(key.derive(1).uniform(0) * 20);
    rows.push_back(row_of(r < 32 ? 20 - r % 2 : ragged, key));
  }
  return bd::Sequences::from_rows(rows);
}

std::vector<double> gradient(Model& model, const bd::Batch& batch, std::size_t threads) {
  bd::Training training(model, bd::Adam{}, {.threads = threads, .checked = true});
  training.loss(batch);
  training.backward();
  return numbers_of(training.gradients());
}

}  // namespace

TEST_CASE("the gradient of shards of other shapes is the sum over their rows", "[train][gradient][threads]") {
  Model model({.embed = 8, .hidden = 12, .layers = 2}, numbered(24, 24, 20), 3);
  const bd::Batch batch{one_even_shard(1), one_even_shard(2)};
  std::vector<double> expected(model.weights().size());
  for (std::size_t r = 0; r < 96; ++r) {
    const std::vector<double> row =
        gradient(model, {row_alone(batch.source, r), row_alone(batch.target, r)}, 1);
    for (std::size_t i = 0; i < row.size(); ++i) expected[i] += row[i];
  }
  double largest = 0;
  for (const double x : expected) largest = std::max(largest, std::abs(x));
  const std::vector<double> alone = gradient(model, batch, 1);
  CHECK(largest_difference(alone, expected) < 1e-12 * largest);
  WatchedWrites::clear();
  WatchedWrites::pause = std::chrono::microseconds(200);
  for (const std::size_t threads : {2U, 3U, 8U}) {
    INFO(threads << " threads");
    CHECK((gradient(model, batch, threads) == alone));
    CHECK(WatchedWrites::clashes == 0);
  }
  CHECK(WatchedWrites::additions > 100);
}

TEST_CASE("trainings by length end with equal bits for any number of threads", "[train][threads][bits]") {
  // Sentences of 1 to 20 words, short ones more often: batches of one length, and of several.
  std::vector<bd::SentencePair> pairs;
  for (std::size_t i = 0; i < 600; ++i) {
    const auto sentence = [&](std::uint64_t side) {
      const bd::random::Key key = bd::random::Key{side}.derive(i);
      const double u = key.uniform(0);
      std::string text = "w0";
      for (std::size_t w = 1; w < 1 + static_cast<std::size_t>(20 * u * u); ++w)
        text += " w" + std::to_string(static_cast<int>(key.uniform(w) * 20));
      return text;
    };
    pairs.push_back({sentence(1), sentence(2)});
  }
  const auto corpus = bd::Corpus::from_pairs(pairs, {.min_frequency = 1, .max_length = 24});
  const auto trained = [&](std::size_t threads, std::uint64_t seed) {
    bd::EncoderDecoder<bd::Gru, bd::Additive, Watched<float>> model(
        {.embed = 8, .hidden = 16, .layers = 2, .dropout = 0.1F}, corpus.vocabularies(), seed);
    bd::Trainer trainer(model, bd::Adam{.rate = 0.01},
                        {.epochs = 3,
                         .batch = 96,
                         .seed = seed,
                         .threads = threads,
                         .grouping = bd::Grouping::by_length,
                         .progress = bd::Progress::silent});
    trainer.fit(corpus);
    return numbers_of(model.weights());
  };
  WatchedWrites::clear();
  WatchedWrites::pause = std::chrono::microseconds(50);
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const std::vector<float> alone = trained(1, seed);
    for (const std::size_t threads : {2U, 3U, 8U}) {
      INFO(threads << " threads, seed " << seed);
      CHECK((trained(threads, seed) == alone));
      CHECK(WatchedWrites::clashes == 0);
    }
  }
}
