// Training only: the table's row for Gehring.
#include <memory>

#include "models.hpp"
#include "tasks.hpp"
#include "train_task.hpp"

namespace benchmark {

std::unique_ptr<Task> make_gehring(const Words& words) {
  return std::make_unique<TrainTask<Gehring>>(words.at(1), words.at(2));
}

}  // namespace benchmark
