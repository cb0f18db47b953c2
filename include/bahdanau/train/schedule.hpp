// Learning-rate schedules: a factor for the optimizer's rate at every step.
// Constant by default; a linear warm-up, and a decay when the loss no longer falls, can be combined.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace bahdanau {

/// How the learning rate changes.
struct Schedule {
  std::size_t warm_up = 0;   // steps over which the rate rises linearly from 0
  std::size_t patience = 0;  // epochs without a better loss before it decays; 0: never
  double decay = 0.5;        // what it is multiplied with then, above 0 and at most 1
  std::size_t after = 0;     // epochs after which it decays with each, whatever the loss; 0: not so
};

/// Where a schedule stands; plain numbers, kept in checkpoints.
struct ScheduleState {
  double factor = 1;          // of the decays so far
  double best = 0;            // the lowest loss so far, once `epochs` > 0
  std::uint64_t epochs = 0;   // seen
  std::uint64_t waiting = 0;  // epochs since the loss was best, or since the last decay

  /// The factor of the step with that number, from 0.
  double at(const Schedule& schedule, std::uint64_t step) const {
    if (schedule.warm_up == 0) return factor;
    const double risen = static_cast<double>(step + 1) / static_cast<double>(schedule.warm_up);
    return factor * std::min(1.0, risen);
  }

  /// Takes note of an epoch's loss: the validation's where there is one.
  void observe(const Schedule& schedule, double loss) {
    const bool better = epochs++ == 0 || loss < best;
    if (better) best = loss;
    waiting = better ? 0 : waiting + 1;
    if (schedule.patience > 0 && waiting >= schedule.patience) {
      factor *= schedule.decay;
      waiting = 0;
    }
    if (schedule.after > 0 && epochs >= schedule.after) factor *= schedule.decay;
  }
};

}  // namespace bahdanau
