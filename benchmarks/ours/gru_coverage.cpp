// Training only: the table's row for coverage.
#include <memory>

#include "models.hpp"
#include "tasks.hpp"
#include "train_task.hpp"

namespace benchmark {

std::unique_ptr<Task> make_gru_coverage(const Words& words) {
  return std::make_unique<TrainTask<GruCoverage>>(words.at(1), words.at(2));
}

}  // namespace benchmark
