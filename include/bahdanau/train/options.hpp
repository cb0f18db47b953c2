// How a training goes: the settings of a `Trainer`.
// Plain values, apart from the trainer itself, so that a program that only passes them on compiles fast.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <bahdanau/core/thread_pool.hpp>
#include <bahdanau/distributed/communicator.hpp>
#include <bahdanau/model/scheduled_sampling.hpp>
#include <bahdanau/train/batches.hpp>
#include <bahdanau/train/criterion.hpp>
#include <bahdanau/train/progress.hpp>
#include <bahdanau/train/report.hpp>
#include <bahdanau/train/schedule.hpp>

namespace bahdanau {

/// Settings of a training; the defaults are d2l's.
struct TrainerOptions {
  std::size_t epochs = 250;
  std::size_t batch = 64;
  double clip = 1;             // bound of the gradient's global norm; 0 does not clip
  std::uint64_t seed = 0;      // of the order of the pairs and of dropout
  std::size_t threads = 0;     // 0: one per core
  ThreadPool* pool = nullptr;  // whose threads; null: the process's
  Grouping grouping = Grouping::random;
  Schedule schedule{};
  double label_smoothing = 0;
  std::size_t patience = 0;  // epochs without a better validation loss before training stops; 0: never
  double min_delta = 0;      // by more than this, in nats per token, a validation loss must fall to be better
  // In place of the validation loss, for the best epoch, `patience`, `min_delta` and the schedule. It needs a
  // validation set. Rank 0 alone calls it; it must leave the weights alone.
  Criterion criterion{};
  Progress progress = Progress::automatic;
  std::filesystem::path checkpoint{};  // where to keep one; empty: nowhere
  std::size_t checkpoint_every = 0;    // batches; 0: after every epoch
  double checkpoint_seconds = 1;       // at least so long, and 20 times what it takes to write, after the one
                                       // before; the last epoch's always comes. 0: as often as asked
  bool resume = false;                 // go on from the checkpoint, if there is one
  std::function<void(const EpochReport&)> on_epoch{};
  std::function<void(const BatchReport&)> on_batch{};  // after each step; the epoch goes on when it returns
  // Once it is true, `fit` finishes its batch, writes the checkpoint and returns: for a signal handler, which
  // may set it, as it is lock-free. It must outlive `fit`.
  const std::atomic<bool>* interrupt = nullptr;
  bool trim_memory = false;                // see StepOptions
  ScheduledSampling scheduled_sampling{};  // see StepOptions
  std::vector<std::string> fixed{};        // parameters that stay as they are: names, or patterns with *
  // Where first weights came from, such as {"from", "fingerprint 123"}: a checkpoint is resumed with the
  // same.
  std::map<std::string, std::string> origin{};
  std::size_t replicas = 1;  // see StepOptions: gradient accumulation, or the work of several processes
  // The processes that train together; all call `fit` with the same data and settings. It must outlive the
  // trainer. Rank 0 alone prints, writes checkpoints and calls `on_epoch` and `on_batch`.
  AnyCommunicator communicator{};
};

}  // namespace bahdanau
