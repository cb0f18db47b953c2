// Threads that wait for work, shared by everything that runs: trainings, translations, many models at once.
// Which thread runs which piece is left open, so nothing computed may depend on it.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include <bahdanau/core/fork.hpp>

namespace bahdanau {

/// A pool of threads. Any number of callers may run work on it at the same time; each works along on its own,
/// so that none waits for another's, and work may run work. Threads start when they are first needed and end
/// with the pool. In the child of a `fork`, which has none of them, they start anew.
class ThreadPool {
 public:
  /// `threads` counts a caller too; 0 means one per core. More than some per core are of no use to anyone, so
  /// there are at most `most`.
  explicit ThreadPool(std::size_t threads = 0) : threads_(count_of(threads)) {}
  static constexpr std::size_t most = 1024;
  ~ThreadPool() { state().end(); }
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// The one of the process, which everything uses that is not given another. It has a thread per core, or as
  /// many as somebody has asked for. It is never destroyed: whatever runs while the process ends may use it.
  static ThreadPool& process() {
    static auto* const pool = new ThreadPool(Growing{});
    return *pool;
  }

  std::size_t threads() const { return threads_; }

  /// Those of the machine. Asked once: the system reads a file for it, which takes as long as a fifth of the
  /// translation of a short sentence.
  static std::size_t cores() {
    static const std::size_t counted = std::max(1U, std::thread::hardware_concurrency());
    return counted;
  }
  /// How many threads are meant by a number that was asked for.
  static std::size_t count_of(std::size_t threads) {
    return threads != 0 ? std::min(threads, most) : cores();
  }

  using Call = void (*)(void* context, std::size_t piece);

  /// Calls call(context, 0), ..., call(context, pieces - 1), each once, on at most so many threads, and
  /// returns when all are done. Afterwards the exception of the lowest piece that threw is rethrown.
  void run(std::size_t threads, std::size_t pieces, Call call, void* context) {
    Job job(call, context, pieces);
    const std::size_t helpers = std::min(growing_ ? threads : std::min(threads, threads_.load()), pieces);
    if (helpers < 2) {
      job.work();
    } else {
      for (std::size_t now = threads_; growing_ && now < threads;)
        if (threads_.compare_exchange_weak(now, threads)) break;
      state().run(job, helpers - 1, threads_ - 1);
    }
    if (job.error) std::rethrow_exception(job.error);
  }

 private:
  struct Growing {};
  explicit ThreadPool(Growing) : threads_(cores()), growing_(true) {}

  // How often a thread looks again before it sleeps: waking one takes some 50 microseconds, as long as a
  // whole piece of a small model's work.
  static constexpr int spins_before_sleep = 100;

  /// Numbered pieces of work. It lies on its caller's stack, who waits until no helper is at it any more.
  struct Job {
    Job(Call f, void* with, std::size_t count) : call(f), context(with), pieces(count), error_piece(count) {}

    void work() {
      for (std::size_t piece; (piece = next.fetch_add(1, std::memory_order_relaxed)) < pieces;) try {
          call(context, piece);
        } catch (...) {
          const std::lock_guard lock(error_mutex);
          if (piece < error_piece) {
            error = std::current_exception();
            error_piece = piece;
          }
        }
    }

    const Call call;
    void* const context;
    const std::size_t pieces;
    std::atomic<std::size_t> next{0};
    std::atomic<std::size_t> helpers{0};  // at it; changed under the pool's lock
    std::size_t wanted = 0;               // more of them
    std::condition_variable left;
    std::mutex error_mutex;
    std::exception_ptr error;
    std::size_t error_piece;
  };

  struct Helper {
    std::thread thread;
    std::condition_variable wake;
    std::atomic<Job*> job{nullptr};
    bool begun = false;  // under the pool's lock
  };

  /// The threads of one process.
  struct State {
    std::mutex mutex;
    std::vector<std::unique_ptr<Helper>> helpers;
    std::vector<Helper*> idle;  // the last one was at work last: its caches are warm
    std::vector<Job*> open;     // that want more helpers than were idle
    std::atomic<bool> stop{false};
    State* left = nullptr;  // of the process before

    void run(Job& job, std::size_t wanted, std::size_t most_helpers) {
      {
        const std::lock_guard lock(mutex);
        while (wanted > 0 && (!idle.empty() || start(most_helpers))) {
          Helper* helper = idle.back();
          idle.pop_back();
          ++job.helpers;
          helper->job = &job;
          helper->wake.notify_one();
          --wanted;
        }
        job.wanted = wanted;
        if (wanted > 0) open.push_back(&job);
      }
      job.work();
      recall(job);
      for (int i = 0; i < spins_before_sleep && job.helpers != 0; ++i) std::this_thread::yield();
      std::unique_lock lock(mutex);
      job.left.wait(lock, [&] { return job.helpers == 0; });
    }

    /// All pieces are taken: helpers that have not begun need not come. On a machine that is busy it may be
    /// long until they get a processor.
    void recall(Job& job) {
      const std::lock_guard lock(mutex);
      if (job.wanted > 0) std::erase(open, &job);
      for (const auto& helper : helpers)
        if (helper->job == &job && !helper->begun) {
          helper->job = nullptr;
          idle.push_back(helper.get());
          --job.helpers;
        }
    }

    /// Starts one more, which is idle. The lock is held.
    bool start(std::size_t most_helpers) {
      if (helpers.size() >= most_helpers) return false;
      auto helper = std::make_unique<Helper>();
      helpers.reserve(helpers.size() + 1);
      idle.reserve(helpers.size() + 1);
      try {
        helper->thread = std::thread([this, self = helper.get()] { serve(*self); });
      } catch (const std::system_error&) {  // the system has no more: those that there are do the work
        return false;
      }
      idle.push_back(helper.get());
      helpers.push_back(std::move(helper));
      return true;
    }

    void serve(Helper& self) {
      std::unique_lock lock(mutex);
      for (;;) {
        if (self.job == nullptr && !stop) {
          lock.unlock();
          for (int i = 0; i < spins_before_sleep && self.job == nullptr && !stop; ++i)
            std::this_thread::yield();
          lock.lock();
        }
        self.wake.wait(lock, [&] { return self.job != nullptr || stop; });
        Job* job = self.job;
        if (job == nullptr) return;
        self.begun = true;
        lock.unlock();
        job->work();
        lock.lock();
        self.begun = false;
        if (--job->helpers == 0) job->left.notify_one();  // under the lock: the job goes when it is released
        self.job = nullptr;
        if (open.empty()) {
          idle.push_back(&self);
        } else {
          job = open.back();
          if (--job->wanted == 0) open.pop_back();
          ++job->helpers;
          self.job = job;
        }
      }
    }

    void end() {
      {
        const std::lock_guard lock(mutex);
        stop = true;
        for (const auto& helper : helpers) helper->wake.notify_one();
      }
      for (const auto& helper : helpers) helper->thread.join();
    }
  };

  /// The state in this process. Threads of another one can be neither joined nor woken, and one of them may
  /// have held the lock when the process forked. So a child leaves what it finds as it is, for good.
  State& state() {
    if (process_.load(std::memory_order_acquire) == detail::Forks::count()) return *state_;
    const std::lock_guard once(detail::Forks::mutex());
    if (process_ != detail::Forks::count()) {
      static std::atomic<State*> left{nullptr};  // still pointed to: nothing has leaked
      auto own = std::make_unique<State>();
      state_.swap(own);
      State* parents = own.release();
      parents->left = left.exchange(parents);
      process_.store(detail::Forks::count(), std::memory_order_release);
    }
    return *state_;
  }

  std::atomic<std::size_t> threads_;
  bool growing_ = false;
  std::unique_ptr<State> state_ = std::make_unique<State>();
  std::atomic<std::uint64_t> process_{detail::Forks::count()};  // whose state it is
};

}  // namespace bahdanau
