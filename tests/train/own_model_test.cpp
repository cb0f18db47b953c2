// Models that are no encoder-decoders, trained by the same Training and Trainer: those of the examples, and
// one whose loss is any number. Gradients, threads, checkpoints and bits are as for every model.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <bahdanau/bahdanau.hpp>

#include "../examples/07_language_model/language_model.hpp"
#include "../examples/08_tagger/tagger.hpp"
#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/message.hpp"
#include "support/temporary_directory.hpp"

using bahdanau::test::largest_difference;
using bahdanau::test::message_of;
using bahdanau::test::TemporaryDirectory;

namespace {

using Double = bd::Xtensor<double>;

/// Attention alone, trained: of keys and values at random places, to answer with the value whose key is asked
/// for. Its loss is no classification.
struct Lookup {
  bd::Array<double, 3> queries, keys, values, wanted;  // [batch, 1 or keys, width]
};
template <class S>
class Retriever : public bd::Attention<S, Double> {
 public:
  using Batch = Lookup;
  explicit Retriever(std::uint64_t seed)
      : bd::Attention<S, Double>({.query = 3, .key = 3, .hidden = 32}, seed) {}
  std::size_t check(const Lookup& batch) const { return batch.queries.shape(0); }
  bd::Objective<Double> objective(bd::Tape<Double>& tape, const Lookup& batch, bd::RowRange rows,
                                  const bd::DropoutPlan&) const {
    const std::size_t keys = batch.keys.shape(1);
    std::vector<bd::Index> begin, length(rows.count, static_cast<bd::Index>(keys));
    for (std::size_t r = 0; r < rows.count; ++r) begin.push_back(static_cast<bd::Index>(r * keys));
    const auto some = [&](const bd::Array<double, 3>& all) {
      const std::size_t row = all.shape(1) * all.shape(2);
      return tape.constant({rows.count * all.shape(1), all.shape(2)},
                           {all.data() + rows.first * row, rows.count * row});
    };
    const bd::Spans<Double> spans(tape, begin, length);
    const auto found =
        this->attend(tape, some(batch.queries), some(batch.keys), some(batch.values), spans.view());
    const auto wrong = found.context - some(batch.wanted);
    return {sum(wrong * wrong), rows.count};
  }
};

/// A class for each sentence, from the state after its last token.
class SentenceClassifier : public bd::Parameterized<Double> {
 public:
  using Batch = Tagged;  // of whose tags the first counts
  using Scratch = std::vector<bd::Index>;
  SentenceClassifier() {
    bd::Scope scope = this->scope();
    dense_ = {scope.matrix("dense.weight", 3, 4), scope.bias("dense.bias", 3, 4)};  // first, for a change
    embedding_ = scope.add("embedding.weight", {20, 4}, bd::Initializer::standard_normal());
    cell_ = bd::Gru::declare(scope.in("rnn."), 4, 4);
    this->initialize(1);
  }
  std::size_t check(const Tagged& batch) const { return batch.size(); }
  bd::Objective<Double> objective(bd::Tape<Double>& tape, const Tagged& batch, bd::RowRange rows,
                                  const bd::DropoutPlan&, Scratch& labels) const {
    std::vector<bd::Index> lengths, ids;
    for (std::size_t r = 0; r < rows.count; ++r)
      lengths.push_back(static_cast<bd::Index>(batch.tokens[rows.first + r].size()));
    bd::Packing packing;
    packing.assign(lengths);
    packing.for_tokens(
        [&](std::size_t, std::size_t r, std::size_t t) { ids.push_back(batch.tokens[rows.first + r][t]); });
    labels.clear();
    for (const bd::Index r : packing.order())
      labels.push_back(batch.tags[rows.first + static_cast<std::size_t>(r)][0]);
    const auto x = gather_rows(tape[embedding_], std::span<const bd::Index>(ids));
    return bd::Classification<Double>{bd::run_layer<bd::Gru, Double>(cell_, 4, x, packing).last[0], dense_,
                                      labels, share};
  }
  double share = 0.5;

 private:
  bd::Parameter embedding_;
  bd::Gru::Weights cell_;
  bd::Dense dense_;
};

/// `even`: keys of one length, of which a product with one is largest for itself.
Lookup lookup(std::size_t rows, std::size_t keys, bool even = false) {
  using Numbers = bd::Array<double, 3>;
  Lookup all{Numbers::from_shape({rows, 1, 3}), Numbers::from_shape({rows, keys, 3}),
             Numbers::from_shape({rows, keys, 2}), Numbers::from_shape({rows, 1, 2})};
  const bd::random::Key key{7};
  std::uint64_t drawn = 0;
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t k = 0; k < keys; ++k) {
      for (std::size_t i = 0; i < 3; ++i) all.keys(r, k, i) = key.normal(drawn++);
      const double x = all.keys(r, k, 0), y = all.keys(r, k, 1), z = all.keys(r, k, 2);
      for (std::size_t i = 0; even && i < 3; ++i) all.keys(r, k, i) *= 2 / std::sqrt(x * x + y * y + z * z);
      for (std::size_t i = 0; i < 2; ++i) all.values(r, k, i) = key.normal(drawn++);
    }
    const auto asked = static_cast<std::size_t>(key.uniform(drawn++) * static_cast<double>(keys));
    for (std::size_t i = 0; i < 3; ++i) all.queries(r, 0, i) = all.keys(r, asked, i);
    for (std::size_t i = 0; i < 2; ++i) all.wanted(r, 0, i) = all.values(r, asked, i);
  }
  return all;
}

/// Ragged rows of ids below `classes`.
Tagged tagged(std::size_t rows, bd::Token classes) {
  Tagged all;
  for (std::size_t r = 0; r < rows; ++r) {
    const bd::random::Key key = bd::random::Key{3}.derive(r);
    const auto length = 1 + static_cast<std::size_t>(key.uniform(0) * 9);
    auto& tokens = all.tokens.emplace_back();
    auto& tags = all.tags.emplace_back();
    for (std::size_t t = 0; t < length; ++t) {
      tokens.push_back(static_cast<bd::Token>(key.uniform(t + 1) * classes));
      tags.push_back(tokens.back() % 3);
    }
  }
  return all;
}

bd::Corpus corpus() {
  std::vector<bd::SentencePair> pairs;
  for (int i = 0; i < 90; ++i)
    pairs.push_back(
        {"a" + std::to_string(i % 7) + (i % 3 == 0 ? "" : " b" + std::to_string(i % 5) + " c"), "x"});
  return bd::Corpus::from_pairs(pairs, {.min_frequency = 1});
}

template <class Model, class Batch>
std::vector<double> gradient(Model& model, const Batch& batch, std::size_t threads) {
  bd::Training training(model, bd::Sgd{}, {.threads = threads, .checked = true});
  training.loss(batch);
  training.backward();
  return training.gradients().read();
}

/// A loss is what central differences of it say, for some of the weights.
template <class Model, class Batch>
double gradient_error(Model& model, const Batch& batch) {
  const std::vector<double> expected = gradient(model, batch, 1);
  bd::Training training(model);
  double error = 0, largest = 0;
  for (std::size_t i = 0; i < expected.size(); i += 7) {
    const auto at = [&](double shift) {
      model.weights().change([&](std::span<double> w) { w[i] += shift; });
      const double loss = training.evaluate(batch).sum;
      model.weights().change([&](std::span<double> w) { w[i] -= shift; });
      return loss;
    };
    const double difference = (at(1e-5) - at(-1e-5)) / 2e-5;
    error = std::max(error, std::abs(difference - expected[i]));
    largest = std::max(largest, std::abs(difference));
  }
  return error / largest;
}

template <class Model, class Data>
std::vector<double> trained(Model model, const Data& data, const bd::TrainerOptions& options) {
  bd::Trainer(model, bd::Adam{.rate = 0.01}, options).fit(data);
  return model.weights().read();
}

}  // namespace

TEST_CASE("a language model has the gradients of its loss", "[train][own]") {
  const bd::Corpus c = corpus();
  LanguageModel<bd::Gru, Double> gru(c.vocabularies().source.size(), 5, 1);
  LanguageModel<bd::Lstm, Double> lstm(c.vocabularies().source.size(), 5, 1);
  const bd::Batch batch = bd::make_batch(c, bd::EpochPlan(c, 70, bd::Grouping::random, {1}).pairs(0));
  CHECK(gradient_error(gru, batch) < 1e-7);
  CHECK(gradient_error(lstm, batch) < 1e-7);
}

TEST_CASE("a model that cannot sample what it reads is not trained with scheduled sampling", "[train][own]") {
  Tagger<bd::Lstm, Double> model(20, 3, 4, 1);
  const bd::StepOptions options{.scheduled_sampling = {.decay = bd::ScheduledSampling::Decay::linear}};
  CHECK(message_of([&] { bd::Training(model, bd::Adam{}, options); }) ==
        "scheduled_sampling: expected a model that can sample what it reads, as EncoderDecoder can, got "
        "another "
        "one; leave StepOptions::scheduled_sampling as it is");
}

TEST_CASE("a tagger has the gradients of its loss", "[train][own]") {
  Tagger<bd::Lstm, Double> model(20, 3, 4, 1);
  CHECK(gradient_error(model, tagged(70, 20)) < 1e-7);
}

TEST_CASE("a classifier of last states has the gradients of its loss, for rows of equal lengths too",
          "[train][own]") {
  SentenceClassifier model;
  Tagged ragged = tagged(70, 20), even = ragged;
  for (std::size_t r = 0; r < even.size(); ++r) {
    even.tokens[r].resize(4, 7);
    even.tags[r].resize(4, 1);
  }
  for (const Tagged& batch : {ragged, even}) {
    CHECK(gradient_error(model, batch) < 1e-7);
    CHECK((gradient(model, batch, 1) == gradient(model, batch, 3)));
  }
}

TEMPLATE_TEST_CASE("attention alone can be trained, on a loss of any kind", "[train][own]", bd::Additive,
                   bd::General) {
  const Lookup batch = lookup(70, 5, std::is_same_v<TestType, bd::General>);
  Retriever<TestType> model(1);
  CHECK(gradient_error(model, batch) < 1e-6);
  bd::Training training(model, bd::Adam{.rate = 0.02});
  const double before = training.loss(batch).nats_per_token();
  for (int step = 0; step < 300; ++step) {
    training.loss(batch);
    training.backward();
    training.step();
  }
  CHECK(training.evaluate(batch).nats_per_token() < before / 5);
}

TEST_CASE("models of any kind have the same bits for any number of threads", "[train][own][threads]") {
  const bd::Corpus c = corpus();
  const Tagged data = tagged(150, 20);
  const Lookup batch = lookup(150, 4);
  const auto same = [](auto&& run) {
    const auto alone = run(std::size_t{1});
    for (const std::size_t threads : {2U, 3U, 8U}) CHECK((run(threads) == alone));
  };
  same([&](std::size_t threads) {
    return trained(LanguageModel<bd::Gru, Double>(c.vocabularies().source.size(), 8, 1), c,
                   {.epochs = 2, .batch = 70, .threads = threads, .progress = bd::Progress::silent});
  });
  same([&](std::size_t threads) {
    return trained(Tagger<bd::Gru, Double>(20, 3, 6, 1), data,
                   {.epochs = 2,
                    .batch = 100,
                    .threads = threads,
                    .grouping = bd::Grouping::by_length,
                    .progress = bd::Progress::silent});
  });
  same([&](std::size_t threads) {
    Retriever<bd::Additive> model(1);
    return gradient(model, batch, threads);
  });
}

TEST_CASE("a training of one's own model that was stopped goes on with the same bits", "[train][own]") {
  const TemporaryDirectory files;
  const Tagged data = tagged(150, 20);
  const Tagger<bd::Gru, Double> model(20, 3, 6, 1);
  bd::TrainerOptions options{.epochs = 4, .batch = 40, .progress = bd::Progress::silent};
  const auto through = trained(model, data, options);
  options.checkpoint = files / "checkpoint";
  options.resume = true;
  options.epochs = 2;
  trained(model, data, options);
  options.epochs = 4;
  CHECK((trained(model, data, options) == through));
  // With other data it is refused.
  options.epochs = 6;
  CHECK(message_of([&] { trained(model, tagged(151, 20), options); }).find("data") != std::string::npos);
}

TEST_CASE("an objective that does not fit is an error", "[train][own][error]") {
  Tagger<bd::Gru, Double> model(20, 3, 4, 1);
  bd::Training training(model);
  Tagged wrong = tagged(5, 20);
  wrong.tags[2][0] = 3;
  CHECK(message_of([&] { training.loss(wrong); }) == "objective: expected labels from 0 to 2, got 3");
  CHECK(message_of([&] { training.loss(Tagged{}); }) == "tagger: expected at least one sentence, got none");
  CHECK(message_of([&] {
          bd::Trainer(model, bd::Adam{}, {.progress = bd::Progress::silent}).fit(Tagged{});
        }) == "Trainer::fit: expected data with examples, got none");
  Retriever<bd::Additive> retriever(1);
  bd::Training smoothed(retriever, bd::Adam{}, {.label_smoothing = 0.1});
  CHECK(message_of([&] { smoothed.loss(lookup(3, 4)); }) ==
        "label_smoothing: expected an objective of classes, got a loss of another kind");
}

TEST_CASE("attention on a tape refuses queries and keys that do not fit", "[train][own][error]") {
  const bd::Attention<bd::General, Double> attention({.query = 2, .key = 3});
  bd::Tape<Double> tape;
  bd::bind(tape, attention.weights());
  const std::vector<bd::Index> begin{0}, length{2};
  const bd::Spans<Double> spans(tape, begin, length);
  const auto attended = [&](bd::Shape queries, bd::Shape keys, bd::Shape values) {
    return message_of([&] {
      attention.attend(tape, tape.zeros(queries), tape.zeros(keys), tape.zeros(values), spans.view());
    });
  };
  CHECK(attended({1, 2}, {2, 3}, {2, 4}) == "nothing was thrown");
  CHECK(attended({1, 3}, {2, 3}, {2, 4}) == "Attention: expected queries [1, 2], got [1, 3]");
  CHECK(attended({2, 2}, {2, 3}, {2, 4}) == "Attention: expected queries [1, 2], got [2, 2]");
  CHECK(attended({1, 2}, {2, 3}, {3, 4}) == "Attention: expected keys [3, 3], got [2, 3]");
}
