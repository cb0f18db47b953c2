// Numbered pieces of work on some threads of a pool: how shards of a batch run side by side.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>

#include <bahdanau/core/thread_pool.hpp>

namespace bahdanau {

/// So many threads of a pool, the caller's among them. It owns nothing, and may be used by several callers.
class Workers {
 public:
  /// Of the process's pool, or of another one, which must outlive it; 0 means one per core, or all of that
  /// pool's.
  explicit Workers(std::size_t threads = 0, ThreadPool* pool = nullptr)
      : pool_(pool != nullptr ? pool : &ThreadPool::process()),
        threads_(pool != nullptr && threads == 0 ? pool->threads() : ThreadPool::count_of(threads)) {}

  std::size_t threads() const { return threads_; }

  /// Calls work(0), ..., work(pieces - 1), each once, and returns when all are done. Afterwards the exception
  /// of the lowest piece that threw is rethrown.
  template <class Work>
  void run(std::size_t pieces, Work&& work) {
    using Type = std::remove_reference_t<Work>;
    // The pool's part is compiled once for all kinds of work, of which a program that trains has some thirty.
    pool_->run(
        threads_, pieces, [](void* context, std::size_t piece) { (*static_cast<Type*>(context))(piece); },
        const_cast<void*>(static_cast<const void*>(std::addressof(work))));
  }

 private:
  ThreadPool* pool_;
  std::size_t threads_;
};

}  // namespace bahdanau
