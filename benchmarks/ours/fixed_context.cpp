// Training only: the table's row for FixedContext.
#include <memory>

#include "models.hpp"
#include "tasks.hpp"
#include "train_task.hpp"

namespace benchmark {

std::unique_ptr<Task> make_fixed_context(const Words& words) {
  return std::make_unique<TrainTask<FixedContext>>(words.at(1), words.at(2));
}

}  // namespace benchmark
