// Training only: the table's row for Nematus.
#include <memory>

#include "models.hpp"
#include "tasks.hpp"
#include "train_task.hpp"

namespace benchmark {

std::unique_ptr<Task> make_nematus(const Words& words) {
  return std::make_unique<TrainTask<Nematus>>(words.at(1), words.at(2));
}

}  // namespace benchmark
