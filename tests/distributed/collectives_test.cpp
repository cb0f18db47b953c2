// What processes do together, on processes that are threads.
#include <bit>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include <bahdanau/backend/xtensor.hpp>
#include <bahdanau/distributed/collectives.hpp>
#include <bahdanau/train/slices.hpp>

#include "support/catch.hpp"
#include "support/in_memory.hpp"
#include "support/message.hpp"

namespace bd = bahdanau;
using namespace bd::test;

TEST_CASE("a value of each process is summed as a balanced tree by rank", "[distributed]") {
  for (const std::size_t size : {1U, 2U, 4U, 8U}) {
    std::vector<double> sums(size);
    run_ranks(size, [&](InMemory& end) {
      const double mine = 1.0 / (3.0 + static_cast<double>(end.rank()));
      sums[end.rank()] = bd::ordered_sum(end, mine, [](double a, double b) { return a + b; });
    });
    const auto term = [](int r) { return 1.0 / (3.0 + r); };
    for (const double sum : sums) CHECK(sum == sums[0]);
    if (size == 4) CHECK(sums[0] == (term(0) + term(1)) + (term(2) + term(3)));
  }
}

TEST_CASE("the lower rank stands on the left", "[distributed]") {
  std::vector<std::uint64_t> joined(4);
  run_ranks(4, [&](InMemory& end) {
    joined[end.rank()] =
        bd::ordered_sum(end, std::uint64_t{end.rank() + 1},
                        [](std::uint64_t a, std::uint64_t b) { return a * (b < 10 ? 10 : 100) + b; });
  });
  CHECK(joined == std::vector<std::uint64_t>(4, 1234));
}

TEST_CASE("a text of any process reaches all", "[distributed]") {
  for (const std::size_t from : {0U, 1U, 5U, 7U}) {
    std::vector<std::string> got(8);
    run_ranks(8, [&](InMemory& end) {
      got[end.rank()] =
          bd::broadcast(end, end.rank() == from ? "from " + std::to_string(from) : "nothing", from);
    });
    CHECK(got == std::vector<std::string>(8, "from " + std::to_string(from)));
  }
}

TEST_CASE("what throws in one process throws in all, and says where", "[distributed][error]") {
  InMemoryHub hub(4);
  const auto errors = errors_of_ranks(hub, [&](InMemory& end) {
    bd::throw_together(end, [&] {
      if (end.rank() >= 2) bd::fail("disk", "room", "none on " + std::to_string(end.rank()));
    });
  });
  CHECK(errors == std::vector<std::string>(4, "rank 2: disk: expected room, got none on 2"));
}

TEST_CASE("what throws is known to all, whatever it is", "[distributed][error]") {
  InMemoryHub hub(4);
  const auto errors = errors_of_ranks(hub, [&](InMemory& end) {
    bd::throw_together(end, [&] {
      if (end.rank() == 1) throw 7;
    });
  });
  CHECK(errors == std::vector<std::string>(4, "rank 1: an exception that is no std::exception"));
}

TEST_CASE("calls that fail together may be nested, as around a training", "[distributed][error]") {
  InMemoryHub hub(4);
  for (const std::string& error : errors_of_ranks(hub, [&](InMemory& end) {
         bd::fail_together(end, [&] { bd::fail_together(end, [] { bd::fail("loss", "a number", "nan"); }); });
       }))
    CHECK(error == "loss: expected a number, got nan");
  CHECK(hub.failure().empty());
}

TEST_CASE("a setting that differs is an error in all processes, which names it and the rank",
          "[distributed][error]") {
  InMemoryHub hub(4);
  const auto errors = errors_of_ranks(hub, [&](InMemory& end) {
    bd::detail::require_same_everywhere(
        end, "Training", {{"clip", "1"}, {"instructions", end.rank() == 3 ? "avx2" : "avx512"}});
  });
  for (const std::string& error : errors)
    CHECK(error ==
          "rank 3: Training: expected instructions avx512, as rank 0 has, got avx2; all processes need the "
          "same "
          "program, settings and data, on processors of one kind");
}

TEST_CASE("an error in all processes is each one's own; one in some of them ends all",
          "[distributed][error]") {
  InMemoryHub together(4);
  for (const std::string& error : errors_of_ranks(together, [&](InMemory& end) {
         bd::fail_together(end, [] { bd::fail("loss", "a number", "nan"); });
       }))
    CHECK(error == "loss: expected a number, got nan");
  CHECK(together.failure().empty());

  InMemoryHub alone(4);
  const auto errors = errors_of_ranks(alone, [&](InMemory& end) {
    bd::fail_together(end, [&] {
      if (end.rank() == 1) bd::fail("disk", "room", "none");
      bd::barrier(end);
    });
  });
  CHECK(errors[1] == "disk: expected room, got none");
  for (const std::size_t rank : {0U, 2U, 3U}) CHECK(errors[rank] == "rank 1: disk: expected room, got none");
}

TEST_CASE("processes and replicas are powers of two, and there are not more processes",
          "[distributed][error]") {
  const auto error = [](std::size_t processes, std::size_t replicas) {
    InMemoryHub hub(processes);
    InMemory end(hub, 0);
    return message_of([&] { bd::detail::require_processes(end, replicas); });
  };
  CHECK(error(1, 1) == "nothing was thrown");
  CHECK(error(4, 8) == "nothing was thrown");
  CHECK(error(1, 3) == "replicas: expected a power of two, from 1 on, got 3");
  CHECK(error(1, 0) == "replicas: expected a power of two, from 1 on, got 0");
  CHECK(error(3, 4) == "communicator: expected a power of two of processes, got 3; mpirun -n 2, 4, 8, ...");
  CHECK(error(4, 2) ==
        "replicas: expected at least one for each of the 4 processes, got 2; the result depends on the "
        "replicas, "
        "and not on the number of processes: choose it once");
}

TEST_CASE("slices cover a block, end on whole parts, and have its sum in the tree's order", "[distributed]") {
  using B = bd::Xtensor<float>;
  constexpr std::size_t part = bd::detail::Division::part;
  for (const std::size_t n : {std::size_t{10}, part, 3 * part + 5, 11 * part - 1})
    for (const std::size_t size : {1U, 2U, 4U, 8U}) {
      const auto term = [](std::size_t rank, std::size_t i) {
        return 1.0F / static_cast<float>(3 + rank * 7 + i % 1001);
      };
      std::vector<std::vector<float>> blocks(size);
      std::vector<std::vector<float>> sums(size);
      std::vector<bd::Slice> own(size);
      run_ranks(size, [&](InMemory& end) {
        std::vector<float>& block = blocks[end.rank()];
        for (std::size_t i = 0; i < n; ++i) block.push_back(term(end.rank(), i));
        const bd::detail::Division division(end, bd::detail::Division::parts_of(n));
        own[end.rank()] = bd::detail::elements_of(division.own(), n);
        bd::Workers workers(2);
        bd::detail::SliceSum<B> slices;
        slices.reduce_scatter(division, block.data(), n, workers);
        sums[end.rank()] = block;
        slices.all_gather(division, block.data(), n);
      });
      std::vector<float> expected(n);
      for (std::size_t i = 0; i < n; ++i) {
        std::vector<float> terms;
        for (std::size_t r = 0; r < size; ++r) terms.push_back(term(r, i));
        for (; terms.size() > 1; terms.resize(terms.size() / 2))
          for (std::size_t r = 0; r < terms.size() / 2; ++r) terms[r] = terms[2 * r] + terms[2 * r + 1];
        expected[i] = terms[0];
      }
      std::vector<int> covered(n);
      for (std::size_t r = 0; r < size; ++r) {
        CHECK((own[r].begin % part == 0 || own[r].begin == n));
        for (std::size_t i = own[r].begin; i < own[r].end; ++i) ++covered[i];
        CHECK(std::equal(sums[r].begin() + static_cast<std::ptrdiff_t>(own[r].begin),
                         sums[r].begin() + static_cast<std::ptrdiff_t>(own[r].end),
                         expected.begin() + static_cast<std::ptrdiff_t>(own[r].begin)));
        CHECK(blocks[r] == expected);
      }
      CHECK(covered == std::vector<int>(n, 1));
    }
}

TEST_CASE("each process gets its slice of rank 0's block, and no process the whole of it", "[distributed]") {
  using B = bd::Xtensor<float>;
  constexpr std::size_t part = bd::detail::Division::part;
  for (const std::size_t n : {std::size_t{10}, 3 * part + 5, 16 * part})
    for (const std::size_t size : {1U, 2U, 4U, 8U}) {
      InMemoryHub hub(size);
      std::size_t right = 0;
      std::mutex mutex;
      const auto errors = errors_of_ranks(hub, [&](InMemory& end) {
        std::vector<float> block(n, -1.0F);
        if (end.rank() == 0)
          for (std::size_t i = 0; i < n; ++i) block[i] = static_cast<float>(i);
        const bd::detail::Division division(end, bd::detail::Division::parts_of(n));
        bd::detail::SliceSum<B> slices;
        slices.scatter_from_first(division, block.data(), n);
        const bd::Slice own = bd::detail::elements_of(division.own(), n);
        const std::lock_guard lock(mutex);
        for (std::size_t i = own.begin; i < own.end; ++i) right += block[i] == static_cast<float>(i);
      });
      CHECK(errors == std::vector<std::string>(size));
      CHECK(right == n);
      // Half of the block for each bit of a rank, where it can be halved.
      const auto bits = static_cast<std::size_t>(std::bit_width(size) - 1);
      if (n == 16 * part) CHECK(hub.bytes() == bits * n / 2 * sizeof(float));
    }
}

TEST_CASE("the traffic of a sum does not grow with the processes", "[distributed]") {
  using B = bd::Xtensor<float>;
  const std::size_t n = 16 * bd::detail::Division::part;
  for (const std::size_t size : {2U, 4U, 8U, 16U}) {
    InMemoryHub hub(size);
    errors_of_ranks(hub, [&](InMemory& end) {
      std::vector<float> block(n, 1.0F);
      const bd::detail::Division division(end, bd::detail::Division::parts_of(n));
      bd::Workers workers(1);
      bd::detail::SliceSum<B> slices;
      slices.reduce_scatter(division, block.data(), n, workers);
      slices.all_gather(division, block.data(), n);
    });
    // Of each process: (P - 1) / P of a block for the sum, as much to gather it.
    CHECK(hub.bytes() == 2 * (size - 1) * n * sizeof(float));
  }
}
