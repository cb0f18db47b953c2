// When a training writes checkpoints, and how one or several processes write and resume them.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <new>
#include <optional>
#include <string>
#include <system_error>

#include <bahdanau/distributed/collectives.hpp>
#include <bahdanau/io/atomic_file.hpp>
#include <bahdanau/train/checkpoint.hpp>
#include <bahdanau/train/options.hpp>
#include <bahdanau/train/progress.hpp>
#include <bahdanau/train/slices.hpp>

namespace bahdanau::detail {

/// Rank 0 has the file. The others send it their moments, and hear from it what it has read.
template <Backend B>
class Checkpointing {
 public:
  explicit Checkpointing(const TrainerOptions& options)
      : path_(options.checkpoint),
        seconds_apart_(options.checkpoint_seconds),
        resume_(options.resume),
        all_(options.communicator) {}

  bool wanted() const { return !path_.empty(); }

  /// Throws where no file could be written.
  void require_place() const {
    throw_together(all_, [&] {
      if (all_.first()) const AtomicFile place(path_);  // given up again
    });
  }

  /// Whether it is time for one. Writing a large one must not take more than a small part of the time.
  bool due() const {
    const double apart = seconds_apart_ > 0 ? std::max(seconds_apart_, 20 * seconds_to_write_) : 0;
    return wanted() && seconds_since(written_) >= apart;
  }

  /// A file that cannot be written is a warning: a disk that is full now may have room later, and what was
  /// computed so far is worth more than the file.
  template <class Training>
  void save(CheckpointState& state, const ParameterList& list, const CheckpointBlocks<B>& blocks,
            Training& training, ProgressDisplay& display) {
    const auto start = Clock::now();
    state.batches = training.batches();
    state.optimizer_steps = training.optimizer_state().steps;
    const auto failed = [&](const std::string& why) {
      ++state.report.failed_checkpoints;
      if (!state.report.last_checkpoint_failed)  // said once until one is written again
        display.warn("a checkpoint could not be written: " + why + "; training goes on, and tries again");
      state.report.last_checkpoint_failed = true;
    };
    const auto write = [&](const CheckpointBlocks<B>& whole) {
      try {
        write_checkpoint<B>(path_, state, list, whole);
        state.report.last_checkpoint_failed = false;
      } catch (const Error& e) {
        failed(e.what());
      } catch (const std::bad_alloc&) {  // it is put together in memory first
        failed("there is not enough memory");
      }
    };
    if (!all_.several()) {
      write(blocks);
    } else {
      std::optional<Moments> moments;
      bool room = true;
      try {
        moments.emplace(all_.first() ? blocks.weights->size() : 0);
      } catch (const std::bad_alloc&) {
        room = false;
      }
      if (of_first(all_, room)) {
        training.gather_moments(moments->first, moments->second);
        if (all_.first()) write(moments->in(blocks));
      } else if (all_.first()) {
        failed("there is not enough memory");
      }
    }
    seconds_to_write_ = seconds_since(start);
    written_ = Clock::now();
  }

  /// Goes on from the checkpoint, if there is one; throws if it is not of these settings, or `check(state)`
  /// throws.
  template <class Training, class Check>
  void resume(CheckpointState& state, const ParameterList& list, const CheckpointBlocks<B>& blocks,
              Training& training, const Check& check) const {
    std::error_code unknown;  // a name that is too long, say: writing says so
    if (!of_first(all_, resume_ && std::filesystem::exists(path_, unknown))) return;
    if (!all_.several()) {
      state = read_checkpoint<B>(path_, state.settings, list, blocks, check);
    } else {
      Moments moments(all_.first() ? blocks.weights->size() : 0);
      const CheckpointBlocks<B> whole = moments.in(blocks);
      throw_together(all_, [&] {
        if (all_.first()) state = read_checkpoint<B>(path_, state.settings, list, whole, check);
      });
      const std::string told = broadcast(all_, to_json(state).text());
      if (!all_.first())
        state = checkpoint_state_from({path_.string() + ": metadata \"state\"", told, /*max_depth=*/6});
      const auto share = [&](ParameterBlock<B>* block) {
        if (block != nullptr) broadcast_block<B>(all_, *block);
      };
      share(blocks.weights);
      share(blocks.best);
      share(blocks.good);
      training.scatter_moments(moments.first, moments.second);
    }
    training.set_batches(state.batches);
    training.optimizer_state().steps = state.optimizer_steps;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static double seconds_since(Clock::time_point t) {
    return std::chrono::duration<double>(Clock::now() - t).count();
  }

  /// The optimizer's, of all processes; rank 0 alone has them.
  struct Moments {
    explicit Moments(std::size_t n) : first(n), second(n) {}
    /// The blocks with these in place of one process's.
    CheckpointBlocks<B> in(CheckpointBlocks<B> blocks) {
      blocks.first = &first;
      blocks.second = &second;
      return blocks;
    }
    ParameterBlock<B> first, second;
  };

  std::filesystem::path path_;
  double seconds_apart_;
  bool resume_;
  AnyCommunicator all_;
  Clock::time_point written_{};
  double seconds_to_write_ = 0;  // the last one
};

}  // namespace bahdanau::detail
