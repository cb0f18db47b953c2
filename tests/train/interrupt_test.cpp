// A training that is asked to end, by a signal as it comes: the batch is finished, the checkpoint written,
// and resuming ends with the same bits.
#include <atomic>
#include <csignal>
#include <string>
#include <utility>
#include <vector>

#include <bahdanau/bahdanau.hpp>

#include "support/backends.hpp"
#include "support/catch.hpp"
#include "support/temporary_directory.hpp"

namespace bd = bahdanau;
using namespace bd::test;

namespace {

using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, bd::test::TestBackend<float>>;

std::atomic<bool> asked{false};
void ask(int) { asked = true; }

/// Adam, with a signal that comes while it works on one of its steps.
struct Signalled {
  static constexpr std::string_view name = "adam";
  std::uint64_t step = 0;
  double rate = 0.01;

  template <bd::Backend B>
  void update(bd::OptimizerState<B>& state, bd::ParameterBlock<B>& weights,
              const bd::ParameterBlock<B>& gradients, const bd::StepScale& scale) const {
    bd::Adam{.rate = rate}.update(state, weights, gradients, scale);
    if (state.steps == step) std::raise(SIGTERM);
  }
};

bd::Corpus corpus() {
  std::vector<bd::SentencePair> pairs;
  for (int i = 0; i < 60; ++i)
    pairs.push_back({"a" + std::to_string(i % 7) + " b" + std::to_string(i / 7),
                     "b" + std::to_string(i / 7) + " a" + std::to_string(i % 7)});
  return bd::Corpus::from_pairs(pairs, {.min_frequency = 1, .max_length = 5});
}

}  // namespace

TEST_CASE("training that a signal interrupts after any batch and that is resumed ends with the same bits",
          "[train][interrupt][bits]") {
  struct Handler {
    void (*before)(int) = std::signal(SIGTERM, ask);
    ~Handler() { std::signal(SIGTERM, before); }
  } handler;
  const auto both = corpus().split(12, 1);  // no structured binding: clang++ 14 captures none
  const auto &training = both.first, &validation = both.second;
  for (const bool validated : {true, false}) {
    CAPTURE(validated);
    const auto run = [&](const std::filesystem::path& checkpoint, std::uint64_t step) {
      asked = false;
      Model model({.embed = 8, .hidden = 12, .layers = 1, .dropout = 0.2F}, training.vocabularies(), 3);
      bd::Trainer trainer(model, Signalled{.step = step},
                          {.epochs = 3,
                           .batch = 16,
                           .progress = bd::Progress::silent,
                           .checkpoint = checkpoint,
                           .checkpoint_seconds = 1000,
                           .resume = true,
                           .interrupt = &asked});
      const auto report = validated ? trainer.fit(training, validation) : trainer.fit(training);
      return std::pair(report, numbers_of(std::as_const(model).weights()));
    };
    const TemporaryDirectory directory;
    const auto whole = run(directory / "whole", 0);
    CHECK_FALSE(whole.first.interrupted);
    for (std::uint64_t step = 1; step <= 9; ++step) {  // 3 epochs of 3 batches
      CAPTURE(step);
      const auto name = directory / std::to_string(step);
      const auto first = run(name, step);
      CHECK(first.first.interrupted);
      CHECK(first.first.epochs.size() == (step - 1) / 3);
      CHECK(std::filesystem::exists(name));
      const auto second = run(name, 0);
      CHECK_FALSE(second.first.interrupted);
      CHECK(second.first.epochs.size() == 3);
      CHECK(second.second == whole.second);
    }
  }
}

TEST_CASE("one batch is trained even if the request came before it", "[train][interrupt]") {
  // So that a checkpoint is never written over by one in which nothing was done.
  const bd::Corpus c = corpus();
  const std::atomic<bool> always{true};
  Model model({.embed = 8, .hidden = 12, .layers = 1}, c.vocabularies(), 3);
  const std::vector<float> before = numbers_of(std::as_const(model).weights());
  const auto report =
      bd::Trainer(model, bd::Adam{}, {.epochs = 3, .progress = bd::Progress::silent, .interrupt = &always})
          .fit(c);
  CHECK(report.interrupted);
  CHECK(report.epochs.empty());
  CHECK(numbers_of(std::as_const(model).weights()) != before);
}
