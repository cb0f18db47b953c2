#include "trainings.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <memory>
#include <string_view>

#include <bahdanau/train/trainer.hpp>

#include "models.hpp"
#include "serve.hpp"
#include "train_task.hpp"

namespace benchmark {
namespace {

using Model = GruAdditive;

bd::Sequences random_rows(std::size_t steps, std::size_t vocabulary, std::uint64_t seed) {
  auto ids = bd::Array<bd::Token, 2>::from_shape({64, steps});
  const bd::random::Key key{seed};
  for (std::size_t i = 0; i < ids.size(); ++i)
    ids.data()[i] = static_cast<bd::Token>(4 + key.bits(i) % (vocabulary - 4));
  return bd::Sequences(std::move(ids));
}

struct Trained {
  explicit Trained(const Setting& s)
      : model({.embed = s.embed, .hidden = s.hidden, .layers = s.layers, .dropout = 0.1f},
              {bd::Vocabulary::numbered(s.vocabulary),
               bd::Vocabulary::numbered(s.vocabulary),
               {.max_length = s.target}}),
        training(model, bd::Adam{.rate = adam_rate}, {.clip = clip_norm, .threads = s.threads}),
        batch{random_rows(s.source, s.vocabulary, 1), random_rows(s.target, s.vocabulary, 2)} {}

  double milliseconds() {
    const double start = milliseconds_now();
    training.loss(batch);
    training.backward();
    training.step();
    return milliseconds_now() - start;
  }

  Model model;
  bd::Training<Model> training;
  bd::Batch batch;
};

}  // namespace

std::vector<double> milliseconds_a_batch(const std::vector<Setting>& settings, std::size_t rounds) {
  std::vector<std::unique_ptr<Trained>> all;
  for (const Setting& s : settings) all.push_back(std::make_unique<Trained>(s));
  for (auto& one : all) one->milliseconds();
  std::vector<double> fastest(all.size(), std::numeric_limits<double>::infinity());
  for (std::size_t r = 0; r < rounds; ++r)
    for (std::size_t i = 0; i < all.size(); ++i) fastest[i] = std::min(fastest[i], all[i]->milliseconds());
  return fastest;
}

std::vector<bd::EpochReport> epochs_over(const bd::Corpus& corpus, std::size_t epochs,
                                         const std::function<void()>& after) {
  Model model({.embed = 32, .hidden = 32, .layers = 2, .dropout = 0.1f}, corpus.vocabularies(), 1);
  bd::TrainerOptions options{.epochs = epochs, .progress = bd::Progress::silent};
  options.on_epoch = [&](const bd::EpochReport&) { after(); };
  bd::Trainer trainer(model, bd::Adam{.rate = adam_rate}, options);
  return trainer.fit(corpus).epochs;
}

bool verdict(const char* what, double value, const char* relation, double limit) {
  const bool good = std::string_view(relation) == "at most" ? value <= limit : value >= limit;
  std::printf("%s: %.3f, must be %s %.3f: %s\n\n", what, value, relation, limit, good ? "ok" : "MISSED");
  return good;
}

}  // namespace benchmark
