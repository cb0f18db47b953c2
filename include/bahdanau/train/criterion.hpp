// What epochs are compared by, where that is not the validation loss.
// A loss is not what people count: with label smoothing it stands still long before translations stop getting
// better.
#pragma once

#include <functional>
#include <string>

namespace bahdanau {

/// An error rate of the model's translations, say: the lower, the better.
struct Criterion {
  std::string name{};  // on the progress line, and in checkpoints, which are resumed with the same
  std::function<double()> measure{};  // after each epoch, of the model as it is then
};

}  // namespace bahdanau
