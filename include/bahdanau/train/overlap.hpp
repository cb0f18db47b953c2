// Communication beside computation: which elements of a block are finished, for a thread that sends them
// while others compute the rest; and that thread.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <bahdanau/core/error.hpp>
#include <bahdanau/train/slices.hpp>

namespace bahdanau::detail {

/// Elements of a block that several threads write in pieces: who has written a piece says so, and another
/// thread waits for what it sends. Nothing is finished before `begin`.
class FinishedElements {
 public:
  explicit FinishedElements(const Division& division)
      : middle_(division.after(0).size() / 2), writers_(division.after(0).size()) {}

  /// One more piece that will be written; before `begin`. Who waits may look at the same time.
  void expect(Slice elements) {
    const std::lock_guard lock(mutex_);
    for_parts(elements, [](std::size_t& writers) { ++writers; });
  }
  /// What no piece writes is finished.
  void begin() {
    const std::lock_guard lock(mutex_);
    begun_ = true;
    changed_.notify_all();
  }
  void finish(Slice elements) {
    const std::lock_guard lock(mutex_);
    for_parts(elements, [](std::size_t& writers) { --writers; });
    changed_.notify_all();
  }
  /// Nothing more will be written, as something was thrown: who waits throws, too.
  void abandon() {
    const std::lock_guard lock(mutex_);
    abandoned_ = true;
    changed_.notify_all();
  }
  void wait(Slice elements) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] {
      bool finished = begun_;
      for_parts(elements, [&](std::size_t writers) { finished = finished && writers == 0; });
      return finished || abandoned_;
    });
    if (abandoned_) fail("gradients", "all of them", "some, as computing them has failed");
  }

  /// The message in which a piece is needed first, as the halves of a block are exchanged from their
  /// beginnings on.
  std::size_t first_message(Slice elements, std::size_t message) const {
    const std::size_t first = elements.begin / Division::part;
    const std::size_t last = std::max(elements.begin + 1, elements.end) / Division::part;
    if (first < middle_ && last >= middle_) return 0;
    return (first < middle_ ? first : first - middle_) * Division::part / message;
  }

 private:
  template <class F>
  void for_parts(Slice elements, F f) {
    if (elements.size() == 0) return;
    for (std::size_t p = elements.begin / Division::part; p * Division::part < elements.end; ++p)
      f(writers_[p]);
  }

  std::size_t middle_;                // the part with which the upper half begins
  std::vector<std::size_t> writers_;  // of each part, that are not done
  bool begun_ = false, abandoned_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
};

/// Runs f on a thread of its own until `join`, which throws what f has thrown.
class BackgroundThread {
 public:
  template <class F>
  explicit BackgroundThread(F f)
      : thread_([this, f = std::move(f)]() mutable {
          try {
            f();
          } catch (...) {
            error_ = std::current_exception();
          }
        }) {}
  ~BackgroundThread() {
    if (thread_.joinable()) thread_.join();
  }
  BackgroundThread(const BackgroundThread&) = delete;
  BackgroundThread& operator=(const BackgroundThread&) = delete;

  void join() {
    thread_.join();
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::exception_ptr error_;
  std::thread thread_;  // the last member: it uses the one above
};

}  // namespace bahdanau::detail
