// Another model assigned to the one that is trained: an error where its sizes differ, never a crash.
#include <string>
#include <utility>

#include <bahdanau/bahdanau.hpp>

#include "support/backends.hpp"
#include "support/catch.hpp"
#include "support/message.hpp"

namespace bd = bahdanau;
using namespace bd::test;

namespace {

using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, bd::test::TestBackend<float>>;

bd::Corpus corpus(int words) {
  std::vector<bd::SentencePair> pairs;
  for (int i = 0; i < 40; ++i)
    pairs.push_back({"a" + std::to_string(i % words), "b" + std::to_string(i % words) + " c"});
  return bd::Corpus::from_pairs(pairs, {.min_frequency = 1, .max_length = 5});
}

Model sized(const bd::Corpus& c, std::size_t embed, std::size_t hidden) {
  return Model({.embed = embed, .hidden = hidden, .layers = 1}, c.vocabularies(), 1);
}

bd::Batch batch_of(const bd::Corpus& c) {
  return bd::make_batch(c, bd::EpochPlan(c, 40, bd::Grouping::random, bd::random::Key{1}).pairs(0));
}

}  // namespace

TEST_CASE("a model of other sizes assigned under a training is an error at every step",
          "[train][assign][error]") {
  const bd::Corpus c = corpus(5);
  const bd::Batch batch = batch_of(c);
  const std::string expected =
      ": expected a model of the sizes that the training was made for: embed 8, hidden 8, layers 1, "
      "vocabularies of 9 and 10, ";
  for (const auto& [embed, hidden] : {std::pair(32, 64), std::pair(4, 4), std::pair(8, 64)}) {
    CAPTURE(embed, hidden);
    const auto other = [&, e = embed, h = hidden] {
      return sized(c, static_cast<std::size_t>(e), static_cast<std::size_t>(h));
    };
    Model model = sized(c, 8, 8);
    bd::Training training(model);
    const auto assigned = [&](auto before, auto then) {
      model = sized(c, 8, 8);
      before();
      model = other();
      const std::string message = message_of(then);
      model = sized(c, 8, 8);
      return message;
    };
    CHECK(assigned([] {}, [&] { training.loss(batch); }).starts_with("loss" + expected));
    CHECK(assigned([] {}, [&] { training.evaluate(batch); }).starts_with("evaluate" + expected));
    CHECK(assigned([&] { training.loss(batch); }, [&] { training.backward(); })
              .starts_with("backward" + expected));
    CHECK(assigned(
              [&] {
                training.loss(batch);
                training.backward();
              },
              [&] { training.step(); })
              .starts_with("step" + expected));
    training.loss(batch);  // and it works again with a model that fits
    training.backward();
    training.step();
  }
}

TEST_CASE("sizes that only the vocabularies differ in are seen too", "[train][assign][error]") {
  const bd::Corpus c = corpus(5), larger = corpus(20);
  Model model = sized(c, 8, 8);
  bd::Training training(model);
  training.loss(batch_of(c));
  model = sized(larger, 8, 8);
  CHECK(message_of([&] {
          training.loss(batch_of(larger));
        }).starts_with("loss: expected a model of the sizes"));
}

TEST_CASE("a model of the same sizes may be assigned between steps, not within one",
          "[train][assign][error]") {
  const bd::Corpus c = corpus(5);
  const bd::Batch batch = batch_of(c);
  Model model = sized(c, 8, 8), other = sized(c, 8, 8);
  bd::Training training(model);
  training.loss(batch);
  training.backward();
  training.step();
  model = Model({.embed = 8, .hidden = 8, .layers = 1}, c.vocabularies(), 7);
  other = model;
  CHECK(training.loss(batch).nats == bd::Training(other).loss(batch).nats);
  model = std::move(other);  // whose weights lie elsewhere
  CHECK(
      message_of([&] { training.backward(); }) ==
      "backward: expected the weights that loss(batch) has seen, got others; change or assign weights after "
      "step(), or before loss()");
  training.loss(batch);
  training.backward();
  training.step();
}

TEST_CASE("a model of other sizes assigned under a trainer is an error, in the callback too",
          "[train][assign][error]") {
  const bd::Corpus c = corpus(5);
  Model model = sized(c, 8, 8);
  bd::TrainerOptions options{.epochs = 3, .progress = bd::Progress::silent};
  options.on_epoch = [&](const bd::EpochReport& r) {
    if (r.epoch == 2) model = sized(c, 16, 16);
  };
  bd::Trainer trainer(model, bd::Adam{}, options);
  const std::string expected =
      "Trainer::fit: expected a model of the sizes that the training was made for: embed 8, hidden 8, ";
  CHECK(message_of([&] { trainer.fit(c); }).starts_with(expected));
  CHECK(message_of([&] { trainer.fit(c); }).starts_with(expected));
}
