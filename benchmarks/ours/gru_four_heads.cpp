// Training only: the table's row for attention of four heads.
#include <memory>

#include "models.hpp"
#include "tasks.hpp"
#include "train_task.hpp"

namespace benchmark {

std::unique_ptr<Task> make_gru_four_heads(const Words& words) {
  return std::make_unique<TrainTask<GruFourHeads>>(words.at(1), words.at(2));
}

}  // namespace benchmark
