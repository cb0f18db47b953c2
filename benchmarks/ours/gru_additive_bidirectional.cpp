// Training only: the table's row for GruAdditiveBidirectional.
#include <memory>

#include "models.hpp"
#include "tasks.hpp"
#include "train_task.hpp"

namespace benchmark {

std::unique_ptr<Task> make_gru_additive_bidirectional(const Words& words) {
  return std::make_unique<TrainTask<GruAdditiveBidirectional>>(words.at(1), words.at(2));
}

}  // namespace benchmark
