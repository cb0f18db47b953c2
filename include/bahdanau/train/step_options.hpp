// What a training step is told: clipping, threads, seed, sampling, replicas and the processes that share
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <bahdanau/core/parallel.hpp>
#include <bahdanau/distributed/communicator.hpp>
#include <bahdanau/train/replicas.hpp>
#include <bahdanau/train/trainable.hpp>

namespace bahdanau {

/// Settings of a training step.
struct StepOptions {
  double clip = 0;             // bound of the gradient's global norm; 0 does not clip
  std::size_t threads = 0;     // 0: as many as there are cores; the results do not depend on it
  std::uint64_t seed = 0;      // of the dropout masks
  double label_smoothing = 0;  // the share of a target's probability that is spread over the vocabulary
  // Gives what was freed back to the system (malloc_trim, with glibc) whenever longer rows than ever before
  // have made the arrays move. For programs in which training is all there is: it holds up the whole process.
  bool trim_memory = false;
  bool checked = false;  // finds operations that break the tape's rules (docs/operations.md): slow, for tests
  ThreadPool* pool = nullptr;              // whose threads; null: the process's
  ScheduledSampling scheduled_sampling{};  // for models that can sample what they read: encoder-decoders
  std::vector<std::string> fixed{};        // parameters that stay as they are: names, or patterns with *
  // Into how many runs of rows a batch is cut, whose gradients are added as a balanced binary tree: a power
  // of two, and a setting like the size of the batch. In one process they come one after the other, in the
  // memory of one: gradient accumulation.
  std::size_t replicas = 1;
  AnyCommunicator communicator{};  // the processes that share them, a power of two, at most `replicas`

  /// Throws for settings that are no numbers, or out of range.
  void check() const {
    if (!(clip >= 0)) fail("clip", "a bound of at least 0", detail::number_text(clip));
    detail::require_fraction("label_smoothing", label_smoothing);
    scheduled_sampling.check();
    detail::require_processes(communicator, replicas);
  }
};

}  // namespace bahdanau
