#include <cmath>
#include <limits>

#include <bahdanau/bahdanau.hpp>

#include "support/backends.hpp"
#include "support/catch.hpp"
#include "support/message.hpp"
#include "support/temporary_directory.hpp"

namespace bd = bahdanau;
using namespace bd::test;
using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, bd::test::TestBackend<float>>;

namespace {

/// Numbers written backwards: easy to learn, and no two sentences alike.
bd::Corpus corpus(std::size_t pairs = 60) {
  std::vector<bd::SentencePair> out;
  for (std::size_t i = 0; i < pairs; ++i) {
    const std::string a = "w" + std::to_string(i % 7), b = "w" + std::to_string(i / 7);
    out.push_back({a + " " + b + (i % 3 == 0 ? " x" : ""), (i % 3 == 0 ? "x " : "") + b + " " + a});
  }
  return bd::Corpus::from_pairs(out, {.min_frequency = 1, .max_length = 6});
}

Model fresh(const bd::Corpus& c, float dropout = 0.1F) {
  return Model({.embed = 12, .hidden = 16, .layers = 2, .dropout = dropout}, c.vocabularies(), 1);
}

bd::TrainerOptions quick(std::size_t epochs) {
  return {.epochs = epochs, .batch = 16, .seed = 2, .progress = bd::Progress::silent};
}

std::vector<float> weights(const Model& m) { return bd::test::numbers_of(m.weights()); }

/// What no backend computes a finite loss with, and what is too much for the CPU's functions and sums alone.
template <class T>
std::vector<T> too_large(T anywhere, T on_the_cpu) {
  if (bd::SpreadingBackend<Model::Backend>) return {anywhere};
  return {on_the_cpu, anywhere};
}

/// Adam, until it goes mad at one step and gives every weight one value.
struct Mad {
  static constexpr std::string_view name = "mad";
  double rate = 0.01;
  std::uint64_t step = 0;
  float value = 0;

  template <bd::Backend B>
  void update(bd::OptimizerState<B>& state, bd::ParameterBlock<B>& weights,
              const bd::ParameterBlock<B>& gradients, const bd::StepScale& scale) const {
    bd::Adam{.rate = rate}.update(state, weights, gradients, scale);
    if (state.steps == step)
      weights.change([&](std::span<typename B::Scalar> all) { B::fill(all.data(), all.size(), value); });
  }
};

}  // namespace

TEST_CASE("training lowers the loss and learns the pairs", "[train][trainer]") {
  const auto c = corpus();
  Model model = fresh(c);
  const auto report = bd::Trainer(model, bd::Adam{.rate = 0.02}, quick(120)).fit(c);
  REQUIRE(report.epochs.size() == 120);
  CHECK(report.epochs.front().training.nats_per_token() > 1.5);
  CHECK(report.epochs.back().training.nats_per_token() < 0.1);
  CHECK(report.epochs.back().training.tokens == c.target_tokens());
  CHECK(model.translate("w3 w2").text == "w2 w3");
}

TEST_CASE("who wants to is told of every batch", "[train][trainer]") {
  const auto c = corpus();
  Model model = fresh(c);
  bd::TrainerOptions options = quick(2);
  options.schedule.warm_up = 4;
  std::vector<bd::BatchReport> batches;
  options.on_batch = [&](const bd::BatchReport& report) { batches.push_back(report); };
  const auto report = bd::Trainer(model, bd::Adam{.rate = 0.02}, options).fit(c);
  REQUIRE(batches.size() == 8);  // 60 pairs in batches of 16
  bd::Loss first;
  for (std::size_t i = 0; i < 8; ++i) {
    CHECK(batches[i].epoch == 1 + i / 4);
    CHECK(batches[i].batch == 1 + i % 4);
    CHECK(batches[i].batches == 4);
    CHECK(batches[i].gradient_norm > 0);
    CHECK(batches[i].rate == Approx(0.02 * std::min(1.0, static_cast<double>(i + 1) / 4)));
    if (i < 4) first += batches[i].loss;
  }
  CHECK(first.nats == report.epochs[0].training.nats);
}

TEST_CASE("being told of every batch changes no bit, and a warm-up does", "[train][trainer][bits]") {
  const auto c = corpus();
  const auto trained = [&](std::size_t warm_up, bool watched) {
    Model model = fresh(c);
    bd::TrainerOptions options = quick(2);
    options.schedule.warm_up = warm_up;
    if (watched) options.on_batch = [](const bd::BatchReport&) {};
    bd::Trainer(model, bd::Adam{.rate = 0.02}, options).fit(c);
    return weights(model);
  };
  const auto alone = trained(4, false);
  CHECK((alone == trained(4, true)));  // in parentheses: a failure would print all weights
  CHECK((alone != trained(0, false)));
}

TEST_CASE("an epoch has every pair once, grouped or not", "[train][batches]") {
  const auto c = corpus(50);
  for (const auto grouping : {bd::Grouping::random, bd::Grouping::by_length}) {
    const bd::EpochPlan plan(c, 16, grouping, bd::random::Key{3});
    REQUIRE(plan.batches() == 4);  // the smaller one is kept
    std::vector<std::size_t> seen;
    for (std::size_t b = 0; b < plan.batches(); ++b)
      seen.insert(seen.end(), plan.pairs(b).begin(), plan.pairs(b).end());
    std::sort(seen.begin(), seen.end());
    for (std::size_t i = 0; i < 50; ++i) CHECK(seen[i] == i);
  }
  const bd::EpochPlan grouped(c, 16, bd::Grouping::by_length, bd::random::Key{3});
  std::size_t cells = 0, tokens = 0;
  for (std::size_t b = 0; b < grouped.batches(); ++b) {
    const bd::Batch batch = bd::make_batch(c, grouped.pairs(b));
    cells += batch.target.tokens.size();
    for (const bd::Index length : batch.target.lengths) tokens += static_cast<std::size_t>(length);
  }
  CHECK(tokens == c.target_tokens());
  CHECK(cells - tokens <= 16);  // two lengths occur: at most one batch mixes them
}

TEST_CASE("with a validation set the best epoch's weights are kept", "[train][trainer][validation]") {
  const auto both = corpus().split(12, 1);  // no structured binding: clang++ 14 captures none
  const auto &training = both.first, &validation = both.second;
  Model model = fresh(training);
  std::vector<std::vector<float>> after;
  auto options = quick(12);
  options.on_epoch = [&](const bd::EpochReport& r) {
    CHECK(r.validation);
    after.push_back(weights(model));
  };
  const auto report = bd::Trainer(model, bd::Adam{.rate = 0.05}, options).fit(training, validation);
  REQUIRE(report.best_epoch >= 1);
  double lowest = std::numeric_limits<double>::infinity();
  std::size_t best = 0;
  for (std::size_t e = 0; e < report.epochs.size(); ++e)
    if (report.epochs[e].criterion() < lowest) {
      lowest = report.epochs[e].criterion();
      best = e;
    }
  CHECK(report.best_epoch == best + 1);
  CHECK(weights(model) == after[best]);
}

TEST_CASE("training stops early when validation no longer improves", "[train][trainer][validation]") {
  const auto both = corpus().split(12, 1);  // no structured binding: clang++ 14 captures none
  const auto &training = both.first, &validation = both.second;
  Model model = fresh(training);
  auto options = quick(500);
  options.patience = 3;
  const auto report = bd::Trainer(model, bd::Adam{.rate = 0.05}, options).fit(training, validation);
  CHECK(report.stopped_early);
  CHECK(report.epochs.size() == report.best_epoch + 3);
}

TEST_CASE("a criterion decides in place of the validation loss, and a resumed training asks the same one",
          "[train][trainer][validation][checkpoint][bits]") {
  const auto both = corpus().split(12, 1);  // no structured binding: clang++ 14 captures none
  const auto &training = both.first, &validation = both.second;
  const std::vector<double> errors = {9, 7, 8, 3, 3, 4, 5};
  std::vector<std::vector<float>> after;
  const auto trained = [&](Model& model, bd::TrainerOptions options) {
    options.patience = 3;
    options.criterion = {"own", [&] {
                           after.push_back(weights(model));
                           return errors.at(after.size() - 1);
                         }};
    return bd::Trainer(model, bd::Adam{.rate = 0.05}, options).fit(training, validation);
  };
  Model model = fresh(training);
  const auto report = trained(model, quick(50));
  CHECK(report.stopped_early);
  CHECK(report.best_epoch == 4);  // the first of two that are as good
  REQUIRE(report.epochs.size() == 7);
  CHECK(weights(model) == after[3]);
  for (std::size_t e = 0; e < 7; ++e) {
    CHECK(report.epochs[e].measured == errors[e]);
    CHECK(report.epochs[e].criterion() == errors[e]);
    CHECK(report.epochs[e].validation);
  }

  // In two parts.
  const TemporaryDirectory folder;
  auto options = quick(3);
  options.checkpoint = folder / "checkpoint";
  options.resume = true;
  after.clear();
  Model first = fresh(training), second = fresh(training);
  trained(first, options);
  options.epochs = 50;
  const auto whole = trained(second, options);
  CHECK(whole.best_epoch == 4);
  CHECK(whole.epochs.size() == 7);
  CHECK(whole.epochs[1].measured == 7.0);
  CHECK(weights(second) == weights(model));
  CHECK(message_of([&] { bd::Trainer(second, bd::Adam{.rate = 0.05}, options).fit(training, validation); }) ==
        options.checkpoint.string() +
            ": expected criterion own, as when the checkpoint was made, got none; resume with the same "
            "settings and "
            "data, or start anew with resume = false (the tool: without --resume)");
}

TEST_CASE("a criterion that cannot decide is an error", "[train][trainer][validation][error]") {
  const auto both = corpus().split(12, 1);  // no structured binding: clang++ 14 captures none
  const auto &training = both.first, &validation = both.second;
  Model model = fresh(training);
  auto options = quick(2);
  options.criterion = {"own", [] { return std::numeric_limits<double>::quiet_NaN(); }};
  CHECK(message_of([&] { bd::Trainer(model, bd::Adam{}, options).fit(training); }) ==
        "TrainerOptions.criterion: expected a validation set, whose best epoch it decides, got none");
  CHECK(message_of([&] { bd::Trainer(model, bd::Adam{}, options).fit(training, validation); }) ==
        "TrainerOptions.criterion: expected a finite number, got nan");
  options.criterion.measure = [&] {
    model.weights().change([](std::span<float> w) { w[0] *= 0.5F; });
    return 1.0;
  };
  CHECK(message_of([&] { bd::Trainer(model, bd::Adam{}, options).fit(training, validation); }) ==
        "TrainerOptions.criterion: expected weights that it leaves as they are, got others; change them in "
        "on_epoch");
}

TEST_CASE("an epoch is better only if its validation loss fell by more than min_delta",
          "[train][trainer][validation]") {
  const auto both = corpus().split(12, 1);  // no structured binding: clang++ 14 captures none
  const auto &training = both.first, &validation = both.second;
  for (const double delta : {0.0, 0.05, 0.5, 1e9}) {
    CAPTURE(delta);
    Model model = fresh(training);
    auto options = quick(60);
    options.patience = 3;
    options.min_delta = delta;
    std::vector<std::vector<float>> after;
    options.on_epoch = [&](const bd::EpochReport&) { after.push_back(weights(model)); };
    const auto report = bd::Trainer(model, bd::Adam{.rate = 0.01}, options).fit(training, validation);
    double best = std::numeric_limits<double>::infinity();
    std::uint64_t best_epoch = 0;
    for (const bd::EpochReport& epoch : report.epochs) {
      CHECK(epoch.best == (epoch.criterion() < best - delta));
      if (epoch.best) {
        best = epoch.criterion();
        best_epoch = epoch.epoch;
      }
    }
    CHECK(report.best_epoch == best_epoch);
    CHECK(weights(model) == after[best_epoch - 1]);
    if (delta == 1e9) {
      CHECK(report.stopped_early);
      CHECK(report.epochs.size() == 4);
    }
  }
  Model model = fresh(training);
  CHECK(message_of([&] { bd::Trainer(model, bd::Adam{}, {.min_delta = -1}); }) ==
        "TrainerOptions.min_delta: expected a number of at least 0, got -1");

  // It decides which weights are kept, so a resumed training must have the same; without a validation set it
  // decides nothing.
  const TemporaryDirectory folder;
  auto options = quick(1);
  options.checkpoint = folder / "checkpoint";
  options.resume = true;
  bd::Trainer(model, bd::Adam{}, options).fit(training, validation);
  options.epochs = 2;
  options.min_delta = 0.5;
  CHECK(message_of([&] { bd::Trainer(model, bd::Adam{}, options).fit(training, validation); })
            .starts_with(options.checkpoint.string() +
                         ": expected min_delta 0, as when the checkpoint was made, got 0.5"));
  options.checkpoint = folder / "other";
  options.min_delta = 0;
  bd::Trainer(model, bd::Adam{}, options).fit(training);
  options.min_delta = 0.5;
  options.epochs = 3;
  CHECK(bd::Trainer(model, bd::Adam{}, options).fit(training).epochs.size() == 3);
}

TEST_CASE("the callback can stop training", "[train][trainer]") {
  const auto c = corpus();
  Model model = fresh(c);
  bd::Trainer<Model>* running = nullptr;
  auto options = quick(50);
  options.on_epoch = [&](const bd::EpochReport& r) {
    if (r.epoch == 4) running->stop();
  };
  bd::Trainer<Model> trainer(model, {}, options);
  running = &trainer;
  CHECK(trainer.fit(c).epochs.size() == 4);
}

TEST_CASE("a loss that is no longer finite stops training, says when, and leaves the last good model",
          "[train][trainer][error]") {
  const auto c = corpus();
  Model model = fresh(c);
  std::vector<float> good = weights(model);
  auto options = quick(200);
  options.clip = 0;
  options.on_epoch = [&](const bd::EpochReport&) { good = weights(model); };
  const std::string message = message_of([&] { bd::Trainer(model, bd::Sgd{.rate = 1e37}, options).fit(c); });
  CHECK(message.starts_with("training, epoch "));
  CHECK(message.find("expected a finite") != std::string::npos);
  CHECK(weights(model) == good);
}

TEST_CASE("a corpus with other vocabularies is refused", "[train][trainer][error]") {
  const auto c = corpus(), other = corpus(20);
  Model model = fresh(c);
  CHECK(message_of([&] { bd::Trainer(model, bd::Adam{}, quick(1)).fit(other); }) ==
        "Trainer: expected a corpus with the model's vocabularies, got a corpus with others; read it with "
        "Corpus::read(path, model.vocabularies())");
}

TEST_CASE("label smoothing pulls confident models back and keeps the reported nats plain",
          "[train][smoothing]") {
  const auto c = corpus();
  Model plain = fresh(c, 0), smoothed = fresh(c, 0);
  auto options = quick(60);
  bd::Trainer(plain, bd::Adam{.rate = 0.02}, options).fit(c);
  options.label_smoothing = 0.2;
  const auto report = bd::Trainer(smoothed, bd::Adam{.rate = 0.02}, options).fit(c);
  CHECK(plain.translate("w3 w2").score > smoothed.translate("w3 w2").score);
  const auto& last = report.epochs.back().training;
  CHECK(last.sum > last.nats / 6);  // the smoothed loss is larger than the plain one
}

TEST_CASE("weights that blow up in the last batch are no result", "[train][trainer][error]") {
  const auto c = corpus();
  auto options = quick(1);
  options.clip = 0;
  for (const double rate : too_large<double>(1e39, 1e37)) {  // infinite in float; or for a finite loss
    Model model = fresh(c);
    const std::vector<float> before = weights(model);
    std::size_t epochs = 0;
    options.on_epoch = [&](const bd::EpochReport&) { ++epochs; };
    options.batch = c.size();
    const std::string message =
        message_of([&] { bd::Trainer(model, bd::Sgd{.rate = rate}, options).fit(c); });
    CHECK(message.starts_with("training, end of epoch 1: expected "));
    CHECK(message.ends_with(
        "; the model has its first weights; lower the learning rate or the bound of clipping"));
    CHECK(weights(model) == before);
    CHECK(epochs == 0);
  }
}

TEST_CASE("a validation loss that is no number is never the best one", "[train][trainer][error]") {
  const auto both = corpus().split(12, 1);  // no structured binding: clang++ 14 captures none
  const auto &training = both.first, &validation = both.second;
  for (const float value : too_large(std::nanf(""), 1e38F)) {
    const Mad mad{.step = 12, .value = value};  // the last batch of the fourth epoch
    const TemporaryDirectory folder;
    auto options = quick(9);
    options.checkpoint = folder / "checkpoint";
    options.checkpoint_seconds = 0;
    std::vector<std::vector<float>> after;
    std::vector<double> losses;
    Model model = fresh(training);
    options.on_epoch = [&](const bd::EpochReport& r) {
      after.push_back(weights(model));
      losses.push_back(r.criterion());
    };
    const std::string message =
        message_of([&] { bd::Trainer(model, mad, options).fit(training, validation); });
    CHECK(message.starts_with("training, end of epoch 4: expected "));
    REQUIRE(after.size() == 3);
    const auto best = std::min_element(losses.begin(), losses.end()) - losses.begin();
    CHECK(weights(model) == after[static_cast<std::size_t>(best)]);
    CHECK(message.find("; the model has the weights of epoch " + std::to_string(best + 1) + "; ") !=
          message.npos);
    // The checkpoint is that of the third epoch, and can be read.
    options.resume = true;
    options.on_epoch = {};
    Model resumed = fresh(training);
    CHECK(message_of([&] { bd::Trainer(resumed, mad, options).fit(training, validation); }) == message);
    CHECK(weights(resumed) == weights(model));
  }
}

TEST_CASE("a loss that is no number between two epochs' ends leaves the weights of the last end",
          "[train][trainer][error]") {
  const auto c = corpus();
  Model model = fresh(c);
  std::vector<float> good;
  auto options = quick(9);
  options.on_epoch = [&](const bd::EpochReport&) { good = weights(model); };
  const Mad mad{.step = 10, .value = std::nanf("")};  // the second of four batches of the third epoch
  const std::string message = message_of([&] { bd::Trainer(model, mad, options).fit(c); });
  CHECK(message ==
        "training, epoch 3, batch 3: expected a finite loss, got nan; the model has the weights of epoch 2; "
        "lower "
        "the learning rate or the bound of clipping");
  CHECK(weights(model) == good);
}

TEST_CASE("fewer epochs than a checkpoint has done are refused, and nothing changes",
          "[train][checkpoint][error]") {
  const auto c = corpus();
  const TemporaryDirectory folder;
  Model model = fresh(c);
  auto options = quick(5);
  options.checkpoint = folder / "checkpoint";
  bd::Trainer(model, bd::Adam{}, options).fit(c);
  options.resume = true;
  options.epochs = 2;
  Model other = fresh(c);
  const std::vector<float> before = weights(other);
  CHECK(message_of([&] { bd::Trainer(other, bd::Adam{}, options).fit(c); }) ==
        options.checkpoint.string() + ": expected epochs of at least 5, which it has done, got 2");
  CHECK(weights(other) == before);
  options.epochs = 5;
  bd::Trainer(other, bd::Adam{}, options).fit(c);
  CHECK(weights(other) == weights(model));
}

TEST_CASE("settings that are no numbers are refused", "[train][error]") {
  const auto c = corpus();
  Model model = fresh(c);
  const double nan = std::nan("");
  const auto with = [&](auto optimizer) { return message_of([&] { bd::Training(model, optimizer); }); };
  CHECK(with(bd::Adam{.rate = nan}) == "Adam.rate: expected a number of at least 0, got nan");
  CHECK(with(bd::Adam{.beta1 = 1}) == "Adam.beta1: expected a number from 0 up to, not including, 1, got 1");
  CHECK(with(bd::AdamW{.decay = -1}) == "AdamW.decay: expected a number of at least 0, got -1");
  CHECK(with(bd::Sgd{.rate = -0.5}) == "Sgd.rate: expected a number of at least 0, got -0.5");
  CHECK(with(bd::Sgd{.rate = std::numeric_limits<double>::infinity()}) ==
        "Sgd.rate: expected a number of at least 0, got inf");
  CHECK(with(bd::Adadelta{.rho = nan}) ==
        "Adadelta.rho: expected a number from 0 up to, not including, 1, got nan");
  const auto clipped = [&](double clip) {
    return message_of([&] { bd::Trainer(model, bd::Adam{}, {.clip = clip}); });
  };
  CHECK(clipped(-1) == "clip: expected a bound of at least 0, got -1");
  CHECK(clipped(nan) == "clip: expected a bound of at least 0, got nan");
  CHECK(message_of([&] { bd::Trainer(model, bd::Adam{}, {.label_smoothing = 1}); }) ==
        "label_smoothing: expected a number from 0 up to, not including, 1, got 1");
  CHECK(message_of([&] { bd::Trainer(model, bd::Adam{}, {.schedule = {.decay = 0}}); }) ==
        "Schedule.decay: expected a factor above 0 and at most 1, got 0");
}
