// Whether the process has forked: a child has the memory of all threads, but only one of them.
// A lock that another thread held is held for ever there, and what it guarded may be half changed.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include <pthread.h>

namespace bahdanau::detail {

/// Counts the forks on the way to this process. Objects compare it with the count that they were last used
/// at: they cannot be told of a fork themselves, as some of them lie on stacks of threads that are gone.
class Forks {
  struct Mark;

 public:
  static std::uint64_t count() { return count_.load(std::memory_order_acquire); }
  /// For what is done once after a fork; nobody holds it in a child that begins.
  static std::mutex& mutex() { return mutex_; }

  /// While one lives, a `fork` on another thread waits. For short calls into a library whose locks we cannot
  /// start anew in the child, or under a lock. Every thread has a mark of its own, so that threads do not
  /// share a cache line.
  class Postponed {
   public:
    Postponed() : mark_(mark()) {
      if (mark_.depth++ > 0) return;  // one of this thread's is there already
      mark_.busy.store(true);
      while (forking_.load()) {  // it may have missed the mark
        mark_.busy.store(false);
        const std::lock_guard until_forked(marks_mutex_);
        mark_.busy.store(true);
      }
    }
    ~Postponed() {
      if (--mark_.depth == 0) mark_.busy.store(false, std::memory_order_release);
    }
    Postponed(const Postponed&) = delete;
    Postponed& operator=(const Postponed&) = delete;

   private:
    Mark& mark_;
  };

 private:
  // A list through the threads' own marks: nothing that a fork during the end of the program could find
  // destroyed.
  struct Mark {
    std::atomic<bool> busy{false};
    int depth = 0;  // of its own thread
    Mark* next = nullptr;
    Mark() {
      const std::lock_guard lock(marks_mutex_);
      next = std::exchange(marks_, this);
    }
    ~Mark() {
      const std::lock_guard lock(marks_mutex_);
      Mark** link = &marks_;
      while (*link != this) link = &(*link)->next;
      *link = next;
    }
  };
  static Mark& mark() {
    static thread_local Mark mine;
    return mine;
  }

  static void before() {
    const Mark* mine = &mark();
    marks_mutex_.lock();
    forking_.store(true);
    for (const Mark* other = marks_; other != nullptr; other = other->next)
      while (other != mine && other->busy.load()) std::this_thread::yield();
  }
  static void after_in_parent() {
    forking_.store(false);
    marks_mutex_.unlock();
  }
  static void begin_child() {
    std::construct_at(&mutex_);
    std::construct_at(&marks_mutex_);
    marks_ = &mark();  // the others were of threads that are gone
    marks_->next = nullptr;
    forking_.store(false);
    count_.fetch_add(1);
  }

  inline static std::atomic<std::uint64_t> count_{0};
  inline static std::mutex mutex_, marks_mutex_;
  inline static Mark* marks_ = nullptr;
  inline static std::atomic<bool> forking_{false};
  inline static const int watching_ = ::pthread_atfork(&before, &after_in_parent, &begin_child);
};

}  // namespace bahdanau::detail
