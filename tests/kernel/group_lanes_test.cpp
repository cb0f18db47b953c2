// Kernels as a device runs them: the threads of a group share every row, here on the host's threads.
// A kernel that read what another lane wrote would give other numbers, or a data race under tsan.
#include <atomic>
#include <barrier>
#include <cstddef>
#include <string>
#include <vector>

#include <bahdanau/bahdanau.hpp>
#include <bahdanau/kernel/group_lanes.hpp>

#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/sequences.hpp"

namespace {

namespace bd = bahdanau;

constexpr std::size_t threads = 3;

/// One of the threads that share a row.
class ThreadGroup {
 public:
  struct Shared {
    std::barrier<> meeting{threads};
    double values[threads] = {};
  };
  ThreadGroup(Shared& shared, std::size_t rank) : shared_(&shared), rank_(rank) {}

  std::size_t rank() const { return rank_; }
  static constexpr std::size_t size() { return threads; }
  template <class T>
  T sum(T value) const {
    return reduce(value, [](T a, T b) { return a + b; });
  }
  template <class T>
  T max(T value) const {
    return reduce(value, [](T a, T b) { return a < b ? b : a; });
  }
  template <class T>
  void add_shared(T* place, T value) const {
    *place += value;  // rows come one after the other here
  }

 private:
  template <class T, class Combine>
  T reduce(T value, Combine combine) const {
    shared_->values[rank_] = static_cast<double>(value);
    shared_->meeting.arrive_and_wait();
    T all = static_cast<T>(shared_->values[0]);
    for (std::size_t i = 1; i < threads; ++i) all = combine(all, static_cast<T>(shared_->values[i]));
    shared_->meeting.arrive_and_wait();
    return all;
  }

  Shared* shared_;
  std::size_t rank_;
};

/// The CPU backend with rows that a group of threads shares.
struct Shared : bd::Xtensor<double> {
  static inline std::atomic<std::size_t> launches{0};

  template <class Kernel>
  static void for_rows(std::size_t rows, Kernel kernel) {
    static bd::Workers workers(threads);
    static ThreadGroup::Shared group;
    ++launches;
    for (std::size_t row = 0; row < rows; ++row)
      workers.run(threads, [&](std::size_t rank) {
        kernel(bd::detail::GroupLanes<double, ThreadGroup>(ThreadGroup(group, rank)), row);
      });
  }
};
static_assert(bd::Backend<Shared>);

template <class Cell, class Score, class Backend>
using Model = bd::EncoderDecoder<Cell, Score, Backend>;

/// Weights after two steps, and what the model then says.
template <class M>
std::pair<std::vector<double>, std::vector<bd::Translation>> trained() {
  M model({.embed = 3, .hidden = 5, .layers = 2, .dropout = 0.2F}, bd::test::numbered(9, 500, 5), 3);
  bd::Training<M> training(model, bd::Adam{.rate = 0.01},
                           {.clip = 1, .threads = 1, .seed = 2, .label_smoothing = 0.1});
  const bd::Batch batch{bd::test::random_sequences(3, 4, 9, 1), bd::test::random_sequences(3, 4, 500, 2)};
  for (int step = 0; step < 2; ++step) {
    training.loss(batch);
    training.backward();
    training.step();
  }
  const std::vector<std::string> sentences = {"4 5", "6"};
  return {model.weights().read(), model.translate(sentences, bd::Greedy{.max_length = 4, .threads = 1})};
}

}  // namespace

TEMPLATE_TEST_CASE("threads that share every row train and translate as one thread does", "[lanes]",
                   (std::pair<bd::Gru, bd::Additive>), (std::pair<bd::Lstm, bd::ScaledDot>)) {
  using Cell = typename TestType::first_type;
  using Score = typename TestType::second_type;
  const auto [alone, said] = trained<Model<Cell, Score, bd::Xtensor<double>>>();
  const std::size_t before = Shared::launches;
  const auto [together, said_together] = trained<Model<Cell, Score, Shared>>();
  CHECK(Shared::launches > before);
  CHECK(bd::test::largest_difference(alone.data(), together.data(), alone.size()) < 1e-12);
  REQUIRE(said.size() == said_together.size());
  for (std::size_t i = 0; i < said.size(); ++i) {
    CHECK(said[i].text == said_together[i].text);
    CHECK(said[i].score == Approx(said_together[i].score).epsilon(1e-12));
  }
}
