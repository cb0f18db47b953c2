// Whether the process has forked: a child has the memory of all threads, but only one of them.
// A lock that another thread held is held for ever there, and what it guarded may be half changed.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include <pthread.h>

namespace bahdanau::detail {

/// Counts the forks on the way to this process. Objects compare it with the count that they were last used
/// at: they cannot be told of a fork themselves, as some of them lie on stacks of threads that are gone.
class Forks {
 public:
  static std::uint64_t count() { return count_.load(std::memory_order_acquire); }
  /// For what is done once after a fork; nobody holds it in a child that begins.
  static std::mutex& mutex() { return mutex_; }

 private:
  static void begin_child() {
    std::construct_at(&mutex_);
    count_.fetch_add(1);
  }
  inline static std::atomic<std::uint64_t> count_{0};
  inline static std::mutex mutex_;
  inline static const int watching_ = ::pthread_atfork(nullptr, nullptr, &begin_child);
};

}  // namespace bahdanau::detail
