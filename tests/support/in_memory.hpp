// Processes that are threads of one, for tests: messages are copies in memory, and nobody is killed.
// A rank that fails alone makes the calls of all others throw.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstring>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <bahdanau/core/error.hpp>
#include <bahdanau/distributed/communicator.hpp>

namespace bahdanau::test {

/// What the ranks share.
class InMemoryHub {
 public:
  explicit InMemoryHub(std::size_t ranks) : ranks_(ranks) {}
  std::size_t size() const { return ranks_; }
  std::size_t messages() const { return messages_; }
  std::size_t bytes() const { return bytes_; }

  void send(std::size_t from, std::size_t to, std::span<const std::byte> bytes) {
    const std::lock_guard lock(mutex_);
    boxes_[{from, to}].emplace_back(bytes.begin(), bytes.end());
    ++messages_;
    bytes_ += bytes.size();
    changed_.notify_all();
  }
  void receive(std::size_t from, std::size_t to, std::span<std::byte> bytes) {
    std::unique_lock lock(mutex_);
    auto& box = boxes_[{from, to}];
    const bool there =
        changed_.wait_for(lock, std::chrono::seconds(60), [&] { return !box.empty() || !failure_.empty(); });
    if (!box.empty()) {
      detail::require_equal("message from rank " + detail::text(from) + " to rank " + detail::text(to),
                            "bytes:", bytes.size(), box.front().size());
      if (!bytes.empty()) std::memcpy(bytes.data(), box.front().data(), bytes.size());
      box.pop_front();
      return;
    }
    if (!there) fail("message from rank " + detail::text(from), "one within a minute", "none");
    throw Error(failure_);
  }

  /// Waits for the others; where they do not come, they have failed, too.
  void fail_together(std::size_t rank, std::string_view why) {
    std::unique_lock lock(mutex_);
    if (!failure_.empty()) return;
    const std::size_t round = failed_++ / ranks_;
    changed_.notify_all();
    const auto all_here = [&] { return failed_ >= (round + 1) * ranks_; };
    if (changed_.wait_for(lock, std::chrono::milliseconds(500),
                          [&] { return all_here() || !failure_.empty(); }))
      return;
    failure_ = "rank " + detail::text(rank) + ": " + std::string(why);
    changed_.notify_all();
  }
  /// What ended all, or nothing.
  std::string failure() const { return failure_; }

 private:
  std::size_t ranks_, failed_ = 0, messages_ = 0, bytes_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::pair<std::size_t, std::size_t>, std::deque<std::vector<std::byte>>> boxes_;
  std::string failure_;
};

/// One rank's end.
class InMemory {
 public:
  InMemory(InMemoryHub& hub, std::size_t rank) : hub_(&hub), rank_(rank) {}
  std::size_t rank() const { return rank_; }
  std::size_t size() const { return hub_->size(); }
  void exchange(std::size_t partner, std::span<const std::byte> sent, std::span<std::byte> received) {
    if (!sent.empty()) hub_->send(rank_, partner, sent);
    if (!received.empty()) hub_->receive(partner, rank_, received);
  }
  void fail_together(std::string_view why) { hub_->fail_together(rank_, why); }

 private:
  InMemoryHub* hub_;
  std::size_t rank_;
};

static_assert(Communicator<InMemory>);

/// Calls f(communicator) as so many ranks, each on a thread of its own; returns what each threw, or nothing.
template <class F>
std::vector<std::string> errors_of_ranks(InMemoryHub& hub, F f) {
  std::vector<std::string> errors(hub.size());
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < hub.size(); ++rank)
    threads.emplace_back([&, rank] {
      InMemory end(hub, rank);
      try {
        f(end);
      } catch (const std::exception& e) {
        errors[rank] = e.what();
      }
    });
  for (std::thread& thread : threads) thread.join();
  return errors;
}

/// The same, where none may throw.
template <class F>
void run_ranks(std::size_t ranks, F f) {
  InMemoryHub hub(ranks);
  for (const std::string& error : errors_of_ranks(hub, f))
    if (!error.empty()) throw Error(error);
}

}  // namespace bahdanau::test
