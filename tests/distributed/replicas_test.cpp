// Replicas: the same bits for any number of processes and threads, and the gradient of the whole batch.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <bahdanau/bahdanau.hpp>

#include "support/catch.hpp"
#include "support/in_memory.hpp"
#include "support/sequences.hpp"

namespace bd = bahdanau;
using namespace bd::test;

namespace {

// Some 240,000 numbers: four parts of the gradient's norm, which eight processes cannot all have one of.
constexpr std::size_t words = 1500;

template <class Cell, class Scalar>
using D2l = bd::EncoderDecoder<Cell, bd::Additive, bd::Xtensor<Scalar>>;

/// Its output layer is its target embedding: one parameter with gradients of two origins, the loss's and the
/// adjoints'.
template <class Scalar>
using Tied =
    bd::EncoderDecoder<bd::Gru, bd::ScaledDot, bd::Xtensor<Scalar>, bd::TanhReadout, bd::StepThenAttend>;

template <class Model>
Model new_model() {
  constexpr bool tied = std::is_same_v<Model, Tied<typename Model::Backend::Scalar>>;
  return Model({.embed = 32, .hidden = 48, .layers = 2, .dropout = 0.2F, .tied = tied},
               numbered(words, words, 12), 5);
}

bd::Batch rows(std::size_t count, std::size_t width, std::uint64_t seed) {
  return {random_sequences(count, width, words, seed), random_sequences(count, width, words, seed + 1)};
}

/// Ragged, smaller than eight replicas, and of one row.
const std::vector<bd::Batch>& batches() {
  static const std::vector<bd::Batch> all{rows(70, 9, 1), rows(5, 12, 3), rows(33, 4, 5), rows(1, 7, 7)};
  return all;
}

/// All that a training may end with.
template <class Scalar>
struct Result {
  std::vector<Scalar> weights, first, second;
  std::vector<double> numbers;  // losses, norms
  bool operator==(const Result&) const = default;
};

template <class Model, class Optimizer>
auto trained(std::size_t replicas, std::size_t processes, std::size_t threads, const Optimizer& optimizer,
             const bd::StepOptions& options = {}) {
  using Backend = typename Model::Backend;
  using Ended = Result<typename Backend::Scalar>;
  std::vector<Ended> results(processes);
  run_ranks(processes, [&](InMemory& end) {
    Model model = new_model<Model>();
    bd::StepOptions own = options;
    own.clip = 0.5;
    own.seed = 3;
    own.threads = threads;
    own.replicas = replicas;
    own.communicator = end;
    bd::Training training(model, optimizer, own);
    Ended& result = results[end.rank()];
    for (const bd::Batch& batch : batches()) {
      const bd::Loss loss = training.loss(batch);
      training.backward();
      const double norm = training.step();
      const bd::Loss after = training.evaluate(batch);
      for (const double x :
           {loss.nats, loss.sum, static_cast<double>(loss.tokens), norm, after.nats, after.sum})
        result.numbers.push_back(x);
    }
    bd::ParameterBlock<Backend> first(model.parameters()), second(model.parameters());
    training.gather_moments(first, second);
    result.weights = model.weights().read();
    if (end.rank() != 0) return;
    result.first = first.read();
    result.second = second.read();
  });
  for (std::size_t r = 1; r < processes; ++r) {
    CHECK(results[r].weights == results[0].weights);
    CHECK(results[r].numbers == results[0].numbers);
  }
  return results[0];
}

/// An optimizer that knows nothing of slices.
struct OwnSgd {
  static constexpr std::string_view name = "own";
  double rate = 0.1;
  template <bd::Backend B>
  void update(bd::OptimizerState<B>& state, bd::ParameterBlock<B>& weights,
              const bd::ParameterBlock<B>& gradients, const bd::StepScale& scale) const {
    const std::vector<typename B::Scalar> g = gradients.read();
    weights.change([&](std::span<typename B::Scalar> w) {
      for (std::size_t i = 0; i < w.size(); ++i)
        w[i] -= static_cast<typename B::Scalar>(rate * scale.rate * scale.clip) * g[i];
    });
    ++state.steps;
  }
};

template <class Model, class Optimizer>
void check_bits(const Optimizer& optimizer, const bd::StepOptions& options = {}) {
  for (const std::size_t replicas : {1U, 2U, 4U, 8U}) {
    const auto alone = trained<Model>(replicas, 1, 1, optimizer, options);
    for (const double x : alone.numbers) CHECK(std::isfinite(x));
    for (std::size_t processes = 1; processes <= replicas; processes *= 2)
      for (const std::size_t threads : {1U, 2U, 3U}) {
        if (processes == 1 && threads == 1) continue;
        INFO(replicas << " replicas, " << processes << " processes, " << threads << " threads");
        CHECK((alone == trained<Model>(replicas, processes, threads, optimizer, options)));
      }
  }
}

}  // namespace

TEST_CASE("training gives the same bits for any number of processes and threads: Gru, Adam, float",
          "[distributed][bits]") {
  check_bits<D2l<bd::Gru, float>>(bd::Adam{.rate = 0.01});
}

TEST_CASE("training gives the same bits for any number of processes and threads: Lstm, AdamW, double",
          "[distributed][bits]") {
  check_bits<D2l<bd::Lstm, double>>(bd::AdamW{.rate = 0.01, .decay = 0.1});
}

TEST_CASE("training gives the same bits for any number of processes and threads: tied weights",
          "[distributed][tied][bits]") {
  check_bits<Tied<float>>(bd::Adam{.rate = 0.01});
}

TEST_CASE("training gives the same bits for any number of processes: other optimizers",
          "[distributed][bits]") {
  const auto check = [](const auto& optimizer, std::size_t processes) {
    INFO(optimizer.name << ", " << processes << " processes");
    const auto alone = trained<D2l<bd::Gru, float>>(4, 1, 1, optimizer);
    CHECK((alone == trained<D2l<bd::Gru, float>>(4, processes, 1, optimizer)));
  };
  for (const std::size_t processes : {2U, 4U}) {
    check(bd::Sgd{.rate = 0.1, .momentum = 0.9}, processes);
    check(bd::Adadelta{}, processes);
    check(OwnSgd{}, processes);
  }
}

TEST_CASE("training gives the same bits for any number of processes: sampling, smoothing, fixed parameters",
          "[distributed][bits]") {
  const bd::StepOptions options{
      .label_smoothing = 0.1,
      .scheduled_sampling = {.decay = bd::ScheduledSampling::Decay::linear, .k = 0.5},
      .fixed = {"encoder.embedding*"}};
  const bd::AdamW optimizer{.rate = 0.01, .decay = 0.1};
  const auto alone = trained<D2l<bd::Gru, float>>(4, 1, 1, optimizer, options);
  for (const std::size_t processes : {2U, 4U})
    CHECK((alone == trained<D2l<bd::Gru, float>>(4, processes, 2, optimizer, options)));
}

TEMPLATE_TEST_CASE("replicas change the rounding of a gradient, and nothing else", "[distributed][gradient]",
                   (D2l<bd::Gru, double>), Tied<double>) {
  TestType model = new_model<TestType>();
  const bd::Batch& batch = batches()[0];
  const auto gradient = [&](std::size_t replicas) {
    bd::Training training(model, bd::Adam{}, {.seed = 3, .replicas = replicas});
    const bd::Loss loss = training.loss(batch);
    training.backward();
    return std::pair(loss, training.gradients().read());
  };
  const auto [loss, whole] = gradient(1);
  double largest = 0;
  for (const double x : whole) largest = std::max(largest, std::abs(x));
  REQUIRE(largest > 0);
  for (const std::size_t replicas : {2U, 4U, 16U, 128U}) {
    const auto [same_loss, parts] = gradient(replicas);
    CHECK(same_loss.tokens == loss.tokens);
    CHECK(same_loss.sum == Approx(loss.sum).epsilon(1e-12));
    double worst = 0;
    for (std::size_t i = 0; i < whole.size(); ++i) worst = std::max(worst, std::abs(whole[i] - parts[i]));
    CHECK(worst <= 1e-12 * largest);
  }
}

TEST_CASE("gradients of replicas are added as a balanced binary tree", "[distributed][bits]") {
  using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Xtensor<float>>;
  Model model({.embed = 6, .hidden = 8, .layers = 1}, numbered(40, 40, 12), 5);
  const bd::Batch batch{random_sequences(18, 9, 40, 1), random_sequences(18, 9, 40, 2)};
  const auto gradient = [&](const bd::Batch& of, std::size_t replicas) {
    bd::Training training(model, bd::Adam{}, {.replicas = replicas});
    training.loss(of);
    training.backward();
    return training.gradients().read();
  };
  // Of 18 rows: 0 to 3, 4 to 8, 9 to 12, 13 to 17.
  const auto part = [&](std::size_t begin, std::size_t end) {
    std::vector<std::vector<bd::Token>> source, target;
    for (std::size_t r = begin; r < end; ++r) {
      source.push_back(row_tokens(batch.source, r));
      target.push_back(row_tokens(batch.target, r));
    }
    return gradient({bd::Sequences::from_rows(source), bd::Sequences::from_rows(target)}, 1);
  };
  const auto a = part(0, 4), b = part(4, 9), c = part(9, 13), d = part(13, 18), sum = gradient(batch, 4);
  std::vector<float> expected;
  for (std::size_t i = 0; i < sum.size(); ++i) expected.push_back((a[i] + b[i]) + (c[i] + d[i]));
  CHECK(sum == expected);
}

TEST_CASE("n gradients are added in log2 n blocks, beside their own", "[distributed][memory]") {
  for (std::size_t levels = 0; levels < 8; ++levels) {
    const std::size_t count = std::size_t{1} << levels;
    bd::Workers workers(1);
    bd::detail::GradientTree<bd::Xtensor<float>> tree;
    bd::ParameterBlock<bd::Xtensor<float>> block(3);
    for (int step = 0; step < 2; ++step) {
      for (std::size_t i = 0; i < count; ++i) {
        block.change([&](std::span<float> numbers) { numbers[0] = static_cast<float>(i); });
        tree.add(i, count, block, workers);
      }
      CHECK(block.read()[0] == static_cast<float>(count * (count - 1) / 2));
      CHECK(tree.blocks() == levels);
    }
  }
}

TEST_CASE("moments of all processes are as many as weights, and nobody has more than a share",
          "[distributed][memory]") {
  constexpr std::size_t part = bd::detail::Division::part;
  for (const std::size_t processes : {1U, 2U, 4U, 8U}) {
    std::vector<std::size_t> first(processes), second(processes);
    std::size_t weights = 0;
    run_ranks(processes, [&](InMemory& end) {
      auto model = new_model<D2l<bd::Gru, float>>();
      bd::Training training(model, bd::Adam{}, {.replicas = 8, .communicator = end});
      training.loss(batches()[0]);
      training.backward();
      training.step();
      first[end.rank()] = training.optimizer_state().first.size();
      second[end.rank()] = training.optimizer_state().second.size();
      if (end.rank() == 0) weights = model.weights().size();
    });
    CHECK(std::accumulate(first.begin(), first.end(), std::size_t{0}) == weights);
    CHECK(second == first);
    const std::size_t parts = bd::detail::Division::parts_of(weights);
    for (const std::size_t own : first) CHECK(own <= (parts + processes - 1) / processes * part);
  }
}

TEST_CASE("moments go from rank 0 to all, to each its own", "[distributed][checkpoint]") {
  const auto check = [](const auto& optimizer, bool whole) {
    run_ranks(4, [&](InMemory& end) {
      auto model = new_model<D2l<bd::Gru, float>>();
      const std::size_t size = model.weights().size();
      bd::Training training(model, optimizer, {.replicas = 4, .communicator = end});
      bd::ParameterBlock<bd::Xtensor<float>> first(end.rank() == 0 ? size : 0), second(first.size());
      for (auto [block, sign] : {std::pair(&first, 1.0F), std::pair(&second, -1.0F)})
        block->change([&, of = sign](std::span<float> numbers) {
          for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = of * static_cast<float>(i);
        });
      training.scatter_moments(first, second);
      const auto& state = training.optimizer_state();
      bool right = (state.first.size() == size) == whole && state.second.size() == state.first.size();
      const std::vector<float> a = state.first.read(), b = state.second.read();
      for (std::size_t i = 0; i < a.size(); ++i) {
        const auto number = static_cast<float>(state.begin + i);
        right = right && a[i] == number && b[i] == -number;
      }
      if (!right) throw bd::Error("rank " + std::to_string(end.rank()) + " has others");
    });
  };
  check(bd::Adam{}, false);
  check(OwnSgd{}, true);
}

TEST_CASE("the messages of a step are two for each bit of a rank, and two short ones", "[distributed]") {
  const auto messages = [](std::size_t processes, int steps) {
    InMemoryHub hub(processes);
    const auto errors = errors_of_ranks(hub, [&](InMemory& end) {
      auto model = new_model<D2l<bd::Gru, float>>();  // small enough for one message
      bd::Training training(model, bd::Adam{}, {.replicas = 8, .communicator = end});
      for (int i = 0; i < steps; ++i) {
        training.loss(batches()[0]);
        training.backward();
        training.step();
      }
    });
    CHECK(errors == std::vector<std::string>(processes));
    return hub.messages();
  };
  for (const std::size_t bits : {1U, 2U, 3U}) {
    const std::size_t processes = std::size_t{1} << bits,
                      step = messages(processes, 3) - messages(processes, 2);
    CHECK(step > 0);
    CHECK(step <= processes * 4 * bits);
  }
}

TEST_CASE("with several processes gradients are whole once they were gathered", "[distributed]") {
  const auto gradients = [](std::size_t processes) {
    std::vector<std::vector<float>> found(processes);
    run_ranks(processes, [&](InMemory& end) {
      bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Xtensor<float>> model(
          {.embed = 32, .hidden = 48, .layers = 1}, numbered(words, words, 12), 5);
      bd::Training training(model, bd::Adam{}, {.replicas = 4, .communicator = end});
      training.loss(batches()[0]);
      training.backward();
      training.gather_gradients();
      found[end.rank()] = training.gradients().read();
    });
    for (const auto& of_rank : found) CHECK(of_rank == found[0]);
    return found[0];
  };
  const std::vector<float> alone = gradients(1);
  CHECK(alone == gradients(2));
  CHECK(alone == gradients(4));
}

TEST_CASE("replicas of a batch are runs of its rows, of equal size give or take one", "[distributed]") {
  for (const std::size_t replicas : {1U, 2U, 8U, 64U})
    for (const std::size_t n : {1U, 5U, 64U, 70U}) {
      std::size_t next = 0;
      for (std::size_t processes = 1; processes <= replicas; processes *= 2, next = 0)
        for (std::size_t rank = 0; rank < processes; ++rank)
          for (std::size_t i = 0; i < replicas / processes; ++i) {
            const bd::detail::Replicas who{replicas, rank, processes};
            const std::size_t r = rank * who.own() + i;
            const bd::RowRange some = who.rows(i, n);
            CHECK(some.first == next);
            CHECK(some.first == r * n / replicas);
            next += some.count;
            if (r + 1 == replicas) CHECK(next == n);
          }
    }
}
