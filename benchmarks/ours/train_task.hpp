// Training as it is timed: forward, backward, clip and Adam for one batch after another.
#pragma once

#include <cstddef>
#include <filesystem>
#include <iomanip>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <bahdanau/io/model_file.hpp>
#include <bahdanau/train/training.hpp>

#include "batches.hpp"
#include "serve.hpp"

namespace benchmark {

inline constexpr double adam_rate = 0.005, clip_norm = 1;  // d2l's; the peers have the same

template <class Model>
class TrainTask : public Task {
 public:
  /// `threads` 0: all cores.
  TrainTask(const std::filesystem::path& model, const std::filesystem::path& batches, std::size_t threads = 0)
      : model_(Model::load(model)),
        training_(model_, bd::Adam{.rate = adam_rate},
                  {.clip = clip_norm, .threads = threads, .trim_memory = true}),
        batches_(read_batches(batches)) {}

  /// Nats of the first batch, before and after one step, both without dropout: the second number is only the
  /// peers' if gradients, clipping and Adam are too.
  std::string check() override {
    bd::Config config = model_.config();
    config.dropout = 0;
    Model model(config, model_.vocabularies());
    model.weights() = model_.weights();
    bd::Training training(model, bd::Adam{.rate = adam_rate}, {.clip = clip_norm});
    std::ostringstream out;
    out << std::setprecision(9) << training.loss(batches_[0]).nats;
    training.backward();
    training.step();
    out << ' ' << training.evaluate(batches_[0]).nats;
    return out.str();
  }

  void run(std::size_t iterations) override {
    for (std::size_t i = 0; i < iterations; ++i) {
      training_.loss(batches_[i % batches_.size()]);
      training_.backward();
      training_.step();
    }
  }

 private:
  Model model_;
  bd::Training<Model> training_;
  std::vector<bd::Batch> batches_;
};

}  // namespace benchmark
