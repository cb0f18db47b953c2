// Workers: every piece runs once, whatever the number of threads, and a failure reaches the caller.
// Also the test that the thread sanitizer looks at.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <numeric>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <bahdanau/core/parallel.hpp>

#include "support/catch.hpp"
#include "support/child.hpp"

using bahdanau::ThreadPool;
using bahdanau::Workers;
using Catch::Matchers::Message;

TEST_CASE("each piece runs exactly once", "[workers]") {
  const std::size_t threads = GENERATE(as<std::size_t>{}, 1, 2, 3, 8);
  const std::size_t pieces = GENERATE(as<std::size_t>{}, 0, 1, 2, 7, 100);
  CAPTURE(threads, pieces);
  Workers workers(threads);
  CHECK(workers.threads() == threads);
  std::vector<std::atomic<int>> calls(pieces + 1);
  workers.run(pieces, [&](std::size_t piece) { ++calls.at(piece); });
  for (std::size_t piece = 0; piece < pieces; ++piece) CHECK(calls[piece] == 1);
  CHECK(calls[pieces] == 0);
}

TEST_CASE("what the pieces wrote is there when run returns", "[workers]") {
  const std::size_t threads = GENERATE(as<std::size_t>{}, 1, 2, 3, 8);
  Workers workers(threads);
  std::vector<std::size_t> written(64);  // not atomic: the sanitizer would see a missing barrier
  for (std::size_t round = 1; round <= 50; ++round) {
    workers.run(written.size(), [&](std::size_t piece) { written[piece] += piece; });
    REQUIRE(std::accumulate(written.begin(), written.end(), std::size_t{0}) == round * 64 * 63 / 2);
  }
}

TEST_CASE("pieces run side by side", "[workers]") {
  // Each of the two waits for the other: on one thread this would hang, so it gives up after a while.
  Workers workers(2);
  std::atomic<int> arrived = 0;
  std::atomic<bool> met = true;
  workers.run(2, [&](std::size_t) {
    ++arrived;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (arrived < 2 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    if (arrived < 2) met = false;
  });
  CHECK(met);
}

TEST_CASE("one thread means the caller's own", "[workers]") {
  Workers workers(1);
  std::set<std::thread::id> seen;
  workers.run(5, [&](std::size_t) { seen.insert(std::this_thread::get_id()); });
  CHECK(seen == std::set{std::this_thread::get_id()});
}

TEST_CASE("no more threads work than there are pieces, and the same ones again", "[workers]") {
  ThreadPool pool(8);
  Workers workers(8, &pool);
  std::mutex mutex;
  std::set<std::thread::id> seen;
  for (int round = 0; round < 50; ++round)
    workers.run(2, [&](std::size_t) {
      const std::lock_guard lock(mutex);
      seen.insert(std::this_thread::get_id());
    });
  CHECK(seen.size() <= 2);
}

TEST_CASE("the exception of the lowest piece is thrown after all pieces are done", "[workers]") {
  const std::size_t threads = GENERATE(as<std::size_t>{}, 1, 2, 3, 8);
  CAPTURE(threads);
  Workers workers(threads);
  std::atomic<int> calls = 0;
  const auto work = [&](std::size_t piece) {
    ++calls;
    // The lowest of those that fail is the last to do so, if it runs beside others.
    if (piece == 3) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (piece % 4 == 3) throw std::runtime_error("piece " + std::to_string(piece));
  };
  CHECK_THROWS_MATCHES(workers.run(20, work), std::runtime_error, Message("piece 3"));
  CHECK(calls == 20);
}

TEST_CASE("workers go on after a failure", "[workers]") {
  Workers workers(3);
  CHECK_THROWS_AS(workers.run(6, [](std::size_t) { throw std::logic_error("once"); }), std::logic_error);
  std::atomic<int> calls = 0;
  CHECK_NOTHROW(workers.run(6, [&](std::size_t) { ++calls; }));
  CHECK(calls == 6);
}

TEST_CASE("zero threads means one for each core, and at least one", "[workers]") {
  Workers workers;
  CHECK(workers.threads() >= 1);
  std::atomic<int> calls = 0;
  workers.run(3, [&](std::size_t) { ++calls; });
  CHECK(calls == 3);
}

TEST_CASE("many callers share a pool, and each gets all of its pieces done", "[workers][pool]") {
  ThreadPool pool(3);
  std::vector<std::thread> callers;
  std::atomic<int> wrong = 0, busy = 0, most = 0;
  for (std::size_t c = 0; c < 6; ++c)
    callers.emplace_back([&, c] {
      Workers workers(c % 4, &pool);  // 0: all of the pool
      for (std::size_t round = 0; round < 200; ++round) {
        std::vector<int> calls(1 + (c + round) % 9, 0);
        workers.run(calls.size(), [&](std::size_t piece) {
          const int now = ++busy;
          for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
          }
          ++calls[piece];
          --busy;
        });
        for (const int count : calls) wrong += count != 1;
      }
    });
  for (std::thread& caller : callers) caller.join();
  CHECK(wrong == 0);
  CHECK(most <= 6 + 2);  // the callers, and the pool's own
}

TEST_CASE("work may run work on the same pool", "[workers][pool]") {
  ThreadPool pool(2);
  Workers outer(2, &pool), inner(2, &pool);
  std::atomic<int> calls = 0;
  outer.run(4, [&](std::size_t) { inner.run(5, [&](std::size_t) { ++calls; }); });
  CHECK(calls == 20);
}

TEST_CASE("a pool lends no more threads than it has", "[workers][pool]") {
  ThreadPool pool(2);
  CHECK(Workers(0, &pool).threads() == 2);
  Workers workers(8, &pool);
  std::mutex mutex;
  std::set<std::thread::id> seen;
  workers.run(64, [&](std::size_t) {
    const std::lock_guard lock(mutex);
    seen.insert(std::this_thread::get_id());
  });
  CHECK(seen.size() <= 2);
}

TEST_CASE("a pool works, and ends, in the child of a fork", "[workers][fork]") {
  if (!bahdanau::test::threads_after_fork) return;
  // With threads that wait, and with one that works and holds the lock every now and then.
  std::optional<ThreadPool> pool(std::in_place, 3);
  std::optional<Workers> workers(std::in_place, 3, &*pool);
  workers->run(20, [](std::size_t) {});
  Workers others(2);
  std::atomic<bool> stop = false;
  std::thread busy([&] {
    while (!stop) others.run(2, [](std::size_t) {});
  });
  for (int round = 0; round < 20; ++round) {
    const int code = bahdanau::test::exit_code_of_child([&] {
      std::vector<std::atomic<int>> calls(50);
      workers->run(50, [&](std::size_t piece) { ++calls[piece]; });
      for (const auto& count : calls)
        if (count != 1) return 1;
      pool.reset();                        // joins threads of its own
      others.run(50, [](std::size_t) {});  // a pool that was at work when the process forked
      return 0;
    });
    REQUIRE(code == 0);
  }
  stop = true;
  busy.join();
  std::atomic<int> calls = 0;
  workers->run(50, [&](std::size_t) { ++calls; });
  CHECK(calls == 50);
}
