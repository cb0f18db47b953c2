// The model that every row of the table but three is about.
#include <memory>
#include <stdexcept>

#include "decode_task.hpp"
#include "models.hpp"
#include "tasks.hpp"
#include "train_task.hpp"

namespace benchmark {

std::unique_ptr<Task> make_gru_additive(const Words& words) {
  using Model = GruAdditive;
  const auto &what = words.at(0), &model = words.at(1), &batches = words.at(2);
  if (what == "train")
    return std::make_unique<TrainTask<Model>>(model, batches, words.size() > 3 ? std::stoul(words[3]) : 0);
  if (what == "greedy_1")
    return std::make_unique<DecodeTask<Model, bd::Greedy>>(model, batches, bd::Greedy{}, 1);
  if (what == "greedy_64")
    return std::make_unique<DecodeTask<Model, bd::Greedy>>(model, batches, bd::Greedy{}, 64);
  if (what == "beam_5")
    return std::make_unique<DecodeTask<Model, bd::Beam>>(model, batches, bd::Beam{.width = 5}, 64);
  throw std::runtime_error("unknown task " + what);
}

}  // namespace benchmark
