// What draws numbers has a stream of its own. Keys are taken from who draws, or found by what was drawn: two
// that share a stream are seen, whatever the code says.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <bahdanau/bahdanau.hpp>

#include "support/catch.hpp"
#include "support/sequences.hpp"

namespace bd = bahdanau;
using bd::random::Key;
using bd::random::Stream;

namespace {

using Double = bd::Xtensor<double>;
constexpr std::uint64_t seed = 5;

/// What a training gives to its model and its data.
struct Given {
  std::vector<std::size_t> order;
  std::vector<Key> segmentation, dropout, inputs;
};
Given given;

struct Numbered {
  std::size_t count = 50;
  std::size_t size() const { return count; }
};
using Examples = std::vector<std::size_t>;
Examples make_batch(const Numbered&, std::span<const std::size_t> examples) {
  return {examples.begin(), examples.end()};
}
Examples make_batch(const Numbered&, std::span<const std::size_t> examples, Key key) {
  given.order.assign(examples.begin(), examples.end());
  given.segmentation.push_back(key);
  return given.order;
}
std::size_t length_of(const Numbered&, std::size_t i) { return i; }
std::uint64_t fingerprint(const Numbered& data) { return data.count; }

/// Four weights that training makes small.
class Shrinking : public bd::Parameterized<Double> {
 public:
  using Batch = Examples;
  struct Scratch {
    bd::InputSampling<Double> sampling;
  };
  Shrinking() {
    weight_ = this->scope().add("w", {4}, bd::Initializer::uniform(1));
    this->initialize(seed);
  }
  std::size_t check(const Examples& batch) const { return batch.size(); }
  bd::DropoutPlan dropout_plan(Key key) const {
    given.dropout.push_back(key);
    return {};
  }
  bd::Objective<Double> objective(bd::Tape<Double>& tape, const Examples&, bd::RowRange rows,
                                  const bd::DropoutPlan&, Scratch& scratch) const {
    given.inputs.push_back(scratch.sampling.key);
    return {sum(tape[weight_] * tape[weight_]), rows.count};
  }
  std::vector<double> first() const { return weights().read(weight_); }

 private:
  bd::Parameter weight_;
};

/// All tokens are as probable; it keeps what it was told.
struct Indifferent {
  using Scalar = double;
  static constexpr std::size_t heads = 1;
  static constexpr std::size_t words = 1000;
  bd::Vocabularies both = bd::test::numbered(9, words, 20);
  std::vector<double> equal = std::vector<double>(words, 0.0), one{1.0};
  std::vector<bd::Token> told;

  void restart(const bd::Sequences&, bd::Continuation, bd::Workers*) {}
  void step(std::span<const bd::Index>, std::span<const bd::Token> tokens, std::size_t) {
    told.push_back(tokens[0]);
  }
  std::size_t rows() const { return 1; }
  std::size_t sentence(std::size_t) const { return 0; }
  std::size_t keys(std::size_t) const { return 1; }
  std::span<const bd::Index> next(std::size_t) const { return {}; }
  std::span<const double> log_probs(std::size_t) const { return equal; }
  std::span<const double> attention(std::size_t) const { return one; }
  void fetch_heads(bool) {}
  bool fetches_heads() const { return false; }
  std::span<const double> head_attention(std::size_t) const { return {}; }
  const bd::Vocabularies& vocabularies() const { return both; }
  std::size_t max_length() const { return 20; }
};

/// Keeps which sentences are drawn: each is a digit of the score.
struct Digits {
  struct Statistics {
    double value = 0;
    Statistics& operator+=(const Statistics& other) {
      value = 8 * value + other.value;
      return *this;
    }
  };
  Statistics statistics(std::string_view, std::span<const std::string_view>) const { return {}; }
  double score(const Statistics& sum) const { return sum.value; }
  std::string name() const { return "digits"; }
  std::string signature() const { return ""; }
};

/// The streams of the seed whose keys explain what was seen.
std::vector<std::uint64_t> streams_of(const std::function<bool(Key)>& explains) {
  std::vector<std::uint64_t> found;
  for (std::uint64_t word = 0; word < 16; ++word)
    if (explains(bd::random::key_of(seed, static_cast<Stream>(word)))) found.push_back(word);
  return found;
}

bool same(const std::vector<Key>& seen, Key key) { return !seen.empty() && seen[0].state == key.state; }

}  // namespace

TEST_CASE("all that is drawn of one seed is drawn of streams that differ", "[random][streams]") {
  std::map<std::string, std::vector<std::uint64_t>> streams;

  Shrinking model;
  const std::vector<double> first = model.first();
  streams["weights"] = streams_of([&](Key key) {
    const auto initializer = bd::Initializer::uniform(1);
    for (std::size_t i = 0; i < first.size(); ++i)
      if (first[i] != initializer.draw(key.derive('w'), i)) return false;
    return true;
  });

  given = {};
  const Numbered data;
  bd::Trainer(model, bd::Sgd{},
              {.epochs = 1,
               .batch = data.size(),
               .seed = seed,
               .threads = 1,
               .progress = bd::Progress::silent,
               .scheduled_sampling = {.decay = bd::ScheduledSampling::Decay::linear, .k = 1}})
      .fit(data);
  streams["orders"] =
      streams_of([&](Key key) { return given.order == bd::Corpus::shuffled(data.size(), key.derive(0)); });
  streams["segmentations"] = streams_of([](Key key) { return same(given.segmentation, key.derive(0)); });
  streams["masks"] = streams_of([](Key key) { return same(given.dropout, key.derive(0)); });
  streams["sampled inputs"] = streams_of([](Key key) { return same(given.inputs, key.derive(0)); });

  std::vector<bd::SentencePair> pairs;
  for (int i = 0; i < 40; ++i) pairs.push_back({std::to_string(i), "x"});
  const auto corpus = bd::Corpus::from_pairs(pairs, {.min_frequency = 1});
  const auto part = corpus.split(10, seed).second;
  streams["splits"] = streams_of([&](Key key) {
    const std::vector<std::size_t> order = bd::Corpus::shuffled(corpus.size(), key);
    const std::set<std::size_t> chosen(order.begin(), order.begin() + 10);
    std::vector<std::vector<bd::Token>> expected;
    for (const std::size_t i : chosen) expected.push_back(corpus.source()[i]);
    return part.source() == expected;
  });

  Indifferent session;
  bd::detail::search(session, bd::test::random_sequences(1, 4, 9, 1),
                     bd::Sample{.seed = seed, .max_length = 12});
  REQUIRE(session.told.size() > 3);  // it may have ended
  streams["drawn tokens"] = streams_of([&](Key key) {
    for (std::size_t t = 1; t < session.told.size(); ++t)
      if (session.told[t] != static_cast<bd::Token>(key.derive(0).uniform(t - 1) * Indifferent::words))
        return false;
    return true;
  });

  std::vector<Digits::Statistics> sentences;
  for (int i = 0; i < 8; ++i) sentences.push_back({static_cast<double>(i)});
  const auto interval = bd::bootstrap_interval(Digits{}, sentences, {.resamples = 1, .seed = seed});
  streams["resamples"] = streams_of([&](Key key) {
    double value = 0;
    for (std::uint64_t i = 0; i < 8; ++i)
      value = 8 * value + static_cast<double>(key.derive(0).bits(i) >> 61U);
    return interval.low == value;
  });

  std::set<std::uint64_t> all;
  for (const auto& [what, found] : streams) {
    INFO(what);
    REQUIRE(found.size() == 1);          // it is drawn of the seed, as is said
    CHECK(all.insert(found[0]).second);  // and nothing else of this stream
  }
  CHECK(all == std::set<std::uint64_t>{0, 1, 2, 3, 4, 5, 6, 7});  // each of `Stream` is somebody's
}
