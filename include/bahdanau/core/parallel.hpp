// A few threads that wait for work: how shards of a batch run side by side.
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
#include <type_traits>
#include <vector>

#include <bahdanau/core/fork.hpp>

namespace bahdanau {

/// A pool that runs numbered pieces of work; the caller works along. Threads start with the first `run` that
/// needs them, and end with the pool. In the child of a `fork`, which has none of them, they start anew.
class Workers {
 public:
  /// `threads` counts the caller too; 0 means one per core. More than some per core are of no use to
  /// anyone, so there are at most `most`.
  explicit Workers(std::size_t threads = 0) : threads_(threads != 0 ? std::min(threads, most) : cores()) {}
  static constexpr std::size_t most = 1024;
  ~Workers() {
    leave_to_parent();
    {
      const std::lock_guard lock(pool_->shared.mutex);
      pool_->shared.stop = true;
    }
    pool_->shared.wake.notify_all();
    for (std::thread& thread : pool_->threads) thread.join();
  }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  std::size_t threads() const { return threads_; }

  /// Those of the machine. Asked once: the system reads a file for it, which takes as long as a fifth of the
  /// translation of a short sentence.
  static std::size_t cores() {
    static const std::size_t counted = std::max(1U, std::thread::hardware_concurrency());
    return counted;
  }

  /// Calls work(0), ..., work(pieces - 1), each once, and returns when all are done. Afterwards the exception
  /// of the lowest piece that threw is rethrown.
  template <class Work>
  void run(std::size_t pieces, Work&& work) {
    using Type = std::remove_reference_t<Work>;
    run(
        pieces, [](void* context, std::size_t piece) { (*static_cast<Type*>(context))(piece); },
        const_cast<void*>(static_cast<const void*>(std::addressof(work))));  // `call` knows which
  }

 private:
  // How often a thread looks again before it sleeps: waking one takes some 50 microseconds, as long as a
  // whole piece of a small model's work.
  static constexpr int patience = 100;

  using Call = void (*)(void* context, std::size_t piece);

  struct Shared {
    std::mutex mutex;
    std::condition_variable wake, done;
    Call call = nullptr;
    void* context = nullptr;
    std::size_t next = 0, pieces = 0, error_piece = 0;
    std::atomic<std::size_t> unfinished{0}, round{0};  // the others are read under the lock
    std::exception_ptr error;
    bool stop = false;

    /// Takes pieces until none is left; the lock is held on entry and on return.
    void take(std::unique_lock<std::mutex>& lock) {
      while (next < pieces) {
        const std::size_t piece = next++;
        lock.unlock();
        std::exception_ptr thrown;
        try {
          call(context, piece);
        } catch (...) {
          thrown = std::current_exception();
        }
        lock.lock();
        if (thrown && piece < error_piece) {
          error = thrown;
          error_piece = piece;
        }
        if (--unfinished == 0) done.notify_all();
      }
    }
    void serve() {
      std::unique_lock lock(mutex);
      for (;;) {
        const std::size_t seen = round;
        if (next >= pieces && !stop) {
          lock.unlock();
          for (int i = 0; i < patience && round == seen; ++i) std::this_thread::yield();
          lock.lock();
        }
        wake.wait(lock, [&] { return stop || next < pieces; });
        if (stop) return;
        take(lock);
      }
    }
  };

  struct Pool {
    Shared shared;
    std::vector<std::thread> threads;
    std::uint64_t forks = detail::Forks::count();  // when it was made
    Pool* left = nullptr;                          // the one that was left before it
  };

  // Once for all kinds of work, of which a program that trains has some thirty.
  void run(std::size_t pieces, Call call, void* context) {
    leave_to_parent();
    const std::size_t helpers = std::min(threads_, pieces) - (pieces == 0 ? 0 : 1);
    Shared& s = pool_->shared;
    while (pool_->threads.size() < helpers) {
      try {
        pool_->threads.emplace_back([&s] { s.serve(); });
      } catch (const std::system_error&) {  // the system has no more: those that there are do the work
        break;
      }
    }
    {
      const std::lock_guard lock(s.mutex);
      s.context = context;
      s.call = call;
      s.next = 0;
      s.pieces = pieces;
      s.unfinished = pieces;
      s.error = nullptr;
      s.error_piece = pieces;
      ++s.round;
    }
    if (helpers > 0) s.wake.notify_all();
    std::unique_lock lock(s.mutex);
    s.take(lock);
    if (s.unfinished != 0) {
      lock.unlock();
      for (int i = 0; i < patience && s.unfinished != 0; ++i) std::this_thread::yield();
      lock.lock();
    }
    s.done.wait(lock, [&] { return s.unfinished == 0; });
    if (s.error) std::rethrow_exception(s.error);
  }

  /// Threads of another process can be neither joined nor woken, and one of them may have held the lock when
  /// the process forked. So the child leaves their pool as it is, for good, and has one of its own.
  void leave_to_parent() {
    if (pool_->forks == detail::Forks::count()) return;
    static std::atomic<Pool*> left{nullptr};  // still pointed to: nothing has leaked
    auto own = std::make_unique<Pool>();
    pool_.swap(own);
    Pool* parents = own.release();
    parents->left = left.exchange(parents);
  }

  std::size_t threads_;
  std::unique_ptr<Pool> pool_ = std::make_unique<Pool>();
};

}  // namespace bahdanau
