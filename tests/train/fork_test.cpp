// After a fork the child can translate and train, whatever other threads were doing at that moment.
// A model that is being trained by another thread is the exception: its weights are half changed.
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <bahdanau/bahdanau.hpp>

#include "support/backends.hpp"
#include "support/catch.hpp"
#include "support/child.hpp"

namespace bd = bahdanau;
using namespace bd::test;

namespace {

using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Xtensor<float>>;

bd::Corpus corpus() {
  std::vector<bd::SentencePair> pairs;
  for (int i = 0; i < 96; ++i)
    pairs.push_back({"a" + std::to_string(i % 8) + " b" + std::to_string(i / 8),
                     "b" + std::to_string(i / 8) + " a" + std::to_string(i % 8)});
  return bd::Corpus::from_pairs(pairs, {.min_frequency = 1, .max_length = 5});
}

std::vector<float> step_of(bd::Training<Model>& training, const Model& model, const bd::Batch& batch) {
  training.loss(batch);
  training.backward();
  training.step();
  return numbers_of(model.weights());
}

}  // namespace

TEST_CASE("a training that lives when the process forks goes on in both, to the same bits",
          "[train][fork][bits]") {
  if (!threads_after_fork) return;
  const bd::Corpus c = corpus();
  Model model({.embed = 16, .hidden = 24, .layers = 2, .dropout = 0.1F}, c.vocabularies(), 1);
  bd::Training<Model> training(model, {}, {.threads = 3});
  const bd::EpochPlan plan(c, 96, bd::Grouping::random, bd::random::Key{1});
  const bd::Batch batch = bd::make_batch(c, plan.pairs(0));
  step_of(training, model, batch);  // its threads have started
  Model reference = model;
  bd::Training<Model> other(reference, {}, {.threads = 3});
  int in_pipe[2];
  REQUIRE(::pipe(in_pipe) == 0);
  CHECK(
      exit_code_of_child([&] {
        const std::vector<float> weights = step_of(training, model, batch);
        double sum = 0;
        for (const float w : weights) sum += static_cast<double>(w);
        if (::write(in_pipe[1], &sum, sizeof sum) != sizeof sum) return 1;
        // A whole trainer, new in the child.
        bd::Trainer(model, bd::Adam{}, {.epochs = 2, .threads = 3, .progress = bd::Progress::silent}).fit(c);
        return 0;
      }) == 0);
  double sum = 0, expected = 0;
  REQUIRE(::read(in_pipe[0], &sum, sizeof sum) == sizeof sum);
  for (const float w : step_of(training, model, batch)) expected += static_cast<double>(w);
  CHECK(sum == expected);
  ::close(in_pipe[0]);
  ::close(in_pipe[1]);
}

TEST_CASE("a process that forks while its threads translate has a child that translates and trains",
          "[train][fork]") {
  if (!threads_after_fork || !allocation_after_fork) return;
  const bd::Corpus c = corpus();
  Model model({.embed = 16, .hidden = 24, .layers = 1}, c.vocabularies(), 1);
  const std::vector<std::string> sentences{"a1 b2", "a3 b4", "a5 b1 a1"};
  const std::string expected = model.translate(sentences[0]).text;
  Model other = model;  // whose panels are made anew all the time
  std::atomic<bool> stop = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i)
    threads.emplace_back([&] {
      while (!stop) {
        model.translate(std::span(sentences));
        Model(other).translate(sentences[0]);
      }
    });
  int well = 0;
  for (int round = 0; round < 25; ++round)
    well += exit_code_of_child([&] {
              if (model.translate(sentences[0]).text != expected) return 1;
              bd::Trainer(model, bd::Adam{}, {.epochs = 1, .threads = 2, .progress = bd::Progress::silent})
                  .fit(c);
              return model.translate(std::span(sentences)).size() == 3 ? 0 : 2;
            }) == 0;
  stop = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(well == 25);
  CHECK(model.translate(sentences[0]).text == expected);
}

TEST_CASE("a child translates with what another thread was freezing", "[train][fork]") {
  if (!threads_after_fork) return;
  // Locks are taken all the time, so that many of the forks meet them.
  const bd::Corpus c = corpus();
  const Model model({.embed = 16, .hidden = 24, .layers = 1}, c.vocabularies(), 1);
  const std::string expected = model.translate("a1 b2").text;
  std::atomic<bool> stop = false;
  std::thread holder([&] {
    while (!stop) {
      Model other = model;
      other.weights().change([](auto numbers) { numbers[0] = 0; });
      for (int i = 0; i < 50; ++i) model.freeze().translate("a1 b2");
      other.translate("a1 b2");
    }
  });
  int well = 0;
  for (int round = 0; round < 100; ++round)
    well += exit_code_of_child([&] { return model.translate("a1 b2").text == expected ? 0 : 1; }) == 0;
  stop = true;
  holder.join();
  CHECK(well == 100);
}
