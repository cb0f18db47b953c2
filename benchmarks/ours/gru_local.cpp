// Training only: the table's row for local attention.
#include <memory>

#include "models.hpp"
#include "tasks.hpp"
#include "train_task.hpp"

namespace benchmark {

std::unique_ptr<Task> make_gru_local(const Words& words) {
  return std::make_unique<TrainTask<GruLocal>>(words.at(1), words.at(2));
}

}  // namespace benchmark
