// One training in several processes: how long a step takes, and what it sends. Under mpirun, or alone.
//
//   benchmark_processes SIZE BATCH REPLICAS THREADS SECONDS
//
// prints one line: seconds of a step (median), numbers in the model, bytes and messages that a process sends
// in a step, megabytes that it needs at most.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include <sys/resource.h>

#include <bahdanau/bahdanau.hpp>
#include <bahdanau/distributed/mpi.hpp>

namespace bd = bahdanau;

namespace {

using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Xtensor<float>>;

struct Size {
  std::size_t width, vocabulary, steps;
};

Size size_of(const std::string& name) {
  if (name == "medium") return {256, 8000, 25};
  if (name == "large") return {512, 10000, 30};
  return {32, 200, 10};  // d2l's
}

bd::Sequences rows(std::size_t count, const Size& size, std::uint64_t seed) {
  auto ids = bd::Array<bd::Token, 2>::from_shape({count, size.steps});
  std::size_t i = 0;
  for (bd::Token& id : ids)
    id = static_cast<bd::Token>(4 + bd::random::Key{seed}.bits(i++) % (size.vocabulary - 4));
  return bd::Sequences(std::move(ids));
}

/// Counts what goes through another communicator.
struct Counted {
  bd::Mpi* mpi;
  std::size_t bytes = 0, messages = 0;
  std::size_t rank() const { return mpi->rank(); }
  std::size_t size() const { return mpi->size(); }
  std::size_t processes_on_host() const { return mpi->processes_on_host(); }
  bool any_thread() const { return mpi->any_thread(); }
  void exchange(std::size_t partner, std::span<const std::byte> sent, std::span<std::byte> received) {
    bytes += sent.size();
    ++messages;
    mpi->exchange(partner, sent, received);
  }
  void fail_together(std::string_view why) { mpi->fail_together(why); }
};

}  // namespace

int main(int argc, char** argv) {
  bd::Mpi mpi(argc, argv);
  if (argc != 6) return 2;
  const Size size = size_of(argv[1]);
  const auto number = [&](int i) { return static_cast<std::size_t>(std::strtoul(argv[i], nullptr, 10)); };
  const bd::Vocabulary words = bd::Vocabulary::numbered(size.vocabulary);
  Model model({.embed = size.width, .hidden = size.width, .layers = 2}, {words, words, {}}, 1);
  Counted all{&mpi};
  bd::Training training(model, bd::Adam{},
                        {.clip = 1, .threads = number(4), .replicas = number(3), .communicator = all});
  const bd::Batch batch{rows(number(2), size, 1), rows(number(2), size, 2)};
  const auto step = [&] {
    training.loss(batch);
    training.backward();
    training.step();
  };
  using Clock = std::chrono::steady_clock;
  const auto since = [](Clock::time_point t) {
    return std::chrono::duration<double>(Clock::now() - t).count();
  };
  step();
  all.bytes = all.messages = 0;
  step();
  const std::size_t bytes = all.bytes, messages = all.messages;
  std::vector<double> times;
  const auto start = Clock::now();
  while (!bd::any_process(all, since(start) > std::atof(argv[5]) && times.size() >= 3)) {
    const auto begin = Clock::now();
    step();
    times.push_back(since(begin));
  }
  std::sort(times.begin(), times.end());
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  if (mpi.rank() == 0)
    std::printf("%.6f %zu %zu %zu %.1f\n", times[times.size() / 2], model.weights().size(), bytes, messages,
                static_cast<double>(used.ru_maxrss) / 1024);
}
