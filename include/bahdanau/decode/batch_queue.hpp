// BatchQueue: requests that wait, taken by threads in batches of those that fit together.
// What a request is, and how a batch is answered, is its owner's business.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <bahdanau/core/error.hpp>
#include <bahdanau/core/fork.hpp>

namespace bahdanau {

/// A request was refused as too many others wait.
class QueueFull : public Error {
 public:
  using Error::Error;
};

namespace detail {

/// How a queue is served.
struct BatchQueueOptions {
  std::size_t batch;               // most requests that are answered together
  std::size_t queue;               // most requests that wait; more are refused
  std::chrono::microseconds wait;  // how long a request waits for company
  std::size_t threads;             // batches that are answered side by side
};

/// Serves requests until it is destroyed, which waits for those that were accepted. All functions may be
/// called from any thread.
template <class Request>
class BatchQueue {
 public:
  using Clock = std::chrono::steady_clock;

  /// What is done with requests. `answer` is called without the lock, from several threads at once, and must
  /// not throw; the others are called with it.
  struct Rules {
    std::function<bool(const Request& first, const Request& other)> fit;  // whether they go together
    std::function<bool(const Request&)> hurries;  // whether it cannot wait for company
    std::function<void(std::vector<Request>)> answer;
  };

  /// Throws if no thread can be started.
  BatchQueue(std::string where, const BatchQueueOptions& options, Rules rules)
      : where_(std::move(where)), options_(options), rules_(std::move(rules)) {
    for (std::size_t i = options.threads; i > 0; --i) try {
        shared_->threads.emplace_back([this] { serve(); });
      } catch (const std::system_error& e) {  // the system has no more: those that there are do the work
        if (shared_->threads.empty()) fail(where_, "a thread", "none", e.what());
        break;
      }
  }
  ~BatchQueue() {
    if (forked()) {
      [[maybe_unused]] const Shared* left = shared_.release();
      return;
    }
    {
      const std::lock_guard lock(shared_->mutex);
      shared_->ending = true;
    }
    shared_->arrived.notify_all();
    for (std::thread& thread : shared_->threads) thread.join();
  }
  BatchQueue(const BatchQueue&) = delete;
  BatchQueue& operator=(const BatchQueue&) = delete;

  /// Lets a request wait for its turn. Throws `QueueFull` where too many others do.
  void add(Request request) {
    if (forked())
      fail(where_ + "::submit", "the process that has made the translator", "a child of it",
           "make one from model() there");
    {
      const std::lock_guard lock(shared_->mutex);
      if (shared_->waiting.size() >= options_.queue)
        throw QueueFull(where_ + "::submit: expected at most " + text(options_.queue) +
                        " requests that wait, got one more; see " + where_ + "Options.queue");
      shared_->waiting.push_back({std::move(request), Clock::now()});
    }
    shared_->arrived.notify_one();
  }

  /// How many requests wait.
  std::size_t waiting() const {
    const std::lock_guard lock(shared_->mutex);
    return shared_->waiting.size();
  }

 private:
  static constexpr std::chrono::microseconds longest_wait =
      std::chrono::hours(1);  // far from the last time point

  struct Waiting {
    Request request;
    Clock::time_point since;
  };

  void serve() {
    Shared& shared = *shared_;
    std::unique_lock lock(shared.mutex);
    for (;;) {
      shared.arrived.wait(lock, [&] { return shared.ending || !shared.waiting.empty(); });
      if (shared.waiting.empty()) return;
      // Where it may wait, others may come, and go along.
      if (options_.wait.count() > 0 && shared.waiting.size() < options_.batch && !shared.ending &&
          nobody_hurries())
        shared.arrived.wait_until(
            lock, shared.waiting.front().since + std::min(options_.wait, longest_wait), [&] {
              return shared.ending || shared.waiting.size() >= options_.batch || shared.waiting.empty();
            });
      std::vector<Request> batch = take();
      const bool more = !shared.waiting.empty();
      lock.unlock();
      if (more) shared.arrived.notify_one();
      if (!batch.empty()) rules_.answer(std::move(batch));
      lock.lock();
    }
  }

  bool nobody_hurries() const {
    return std::none_of(shared_->waiting.begin(), shared_->waiting.end(),
                        [&](const Waiting& w) { return rules_.hurries(w.request); });
  }
  bool forked() const { return process_ != Forks::count(); }

  /// The first request and those behind it that fit.
  std::vector<Request> take() {
    std::vector<Request> batch;
    auto& waiting = shared_->waiting;
    for (auto at = waiting.begin(); at != waiting.end() && batch.size() < options_.batch;) {
      if (!batch.empty() && !rules_.fit(batch.front(), at->request)) {
        ++at;
        continue;
      }
      batch.push_back(std::move(at->request));
      at = waiting.erase(at);
    }
    return batch;
  }

  std::string where_;
  BatchQueueOptions options_;
  Rules rules_;
  /// Its threads and what they wait for. A child of a fork can neither wake nor join nor destroy them.
  struct Shared {
    std::vector<std::thread> threads;
    std::mutex mutex;
    std::condition_variable arrived;
    std::deque<Waiting> waiting;
    bool ending = false;
  };

  std::unique_ptr<Shared> shared_ = std::make_unique<Shared>();
  std::uint64_t process_ = Forks::count();  // that its threads are of
};

}  // namespace detail
}  // namespace bahdanau
