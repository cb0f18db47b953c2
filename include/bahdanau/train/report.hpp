// What training says of an epoch: to a callback, to the progress line, and at the end as a list.
// Plain numbers; nothing here prints.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <bahdanau/train/loss.hpp>

namespace bahdanau {

/// One batch, after its step.
struct BatchReport {
  std::uint64_t epoch = 0;             // from 1
  std::size_t batch = 0, batches = 0;  // from 1, and how many the epoch has
  Loss loss{};
  double gradient_norm = 0;  // before clipping
  double rate = 0;           // with the schedule's factor; the factor alone where an optimizer has no rate
  double seconds = 0;        // of the epoch so far
};

/// One epoch.
struct EpochReport {
  std::uint64_t epoch = 0;           // from 1
  Loss training{};                   // summed over the epoch's batches, while the weights moved
  std::optional<Loss> validation{};  // after the epoch, without dropout
  std::optional<double> measured{};  // by `TrainerOptions::criterion`
  double seconds = 0;                // in training, without validation
  double rate_factor = 1;            // of the schedule
  bool best = false;                 // the lowest criterion so far

  double tokens_per_second() const {
    return seconds > 0 ? static_cast<double>(training.tokens) / seconds : 0;
  }
  /// What is compared between epochs: what was measured, or nats per token, the validation's where there is
  /// one.
  double criterion() const {
    if (measured) return *measured;
    return validation ? validation->nats_per_token() : training.nats_per_token();
  }
};

/// What `fit` did.
struct TrainingReport {
  std::vector<EpochReport> epochs;
  std::uint64_t best_epoch = 0;  // whose weights the model has, if there was a validation set
  bool stopped_early = false;
  bool interrupted = false;             // by `TrainerOptions::interrupt`: there is more to do
  std::uint64_t diverged_epoch = 0;     // the first whose loss had risen far above what it was; 0: none
  bool last_checkpoint_failed = false;  // the file, if there is one, is older than the report
  std::size_t failed_checkpoints = 0;   // that could not be written, a full disk say
  // Of the training data; of a CorpusFile as some of its pairs have it.
  std::size_t cut_rows = 0;                       // on either side: longer than max_length
  double source_unknown = 0, target_unknown = 0;  // shares of the words that are `<unk>`
};

}  // namespace bahdanau
