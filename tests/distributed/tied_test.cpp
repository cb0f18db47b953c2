// Replicas of a model whose output layer is its target embedding: one parameter with gradients of two
// origins, the loss's and the adjoints'.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include <bahdanau/bahdanau.hpp>

#include "support/catch.hpp"
#include "support/in_memory.hpp"
#include "support/sequences.hpp"

namespace bd = bahdanau;
using namespace bd::test;

namespace {

constexpr std::size_t words = 1500;  // some 200,000 numbers: more than one part of the gradient's norm

template <class Scalar>
using Tied =
    bd::EncoderDecoder<bd::Gru, bd::ScaledDot, bd::Xtensor<Scalar>, bd::TanhReadout, bd::StepThenAttend>;

template <class Scalar>
Tied<Scalar> new_model() {
  return Tied<Scalar>({.embed = 32, .hidden = 48, .layers = 2, .dropout = 0.2F, .tied = true},
                      numbered(words, words, 12), 5);
}

bd::Batch rows(std::size_t count, std::size_t width, std::uint64_t seed) {
  return {random_sequences(count, width, words, seed), random_sequences(count, width, words, seed + 1)};
}

/// Weights of all ranks after some steps, and the losses and norms on the way.
struct Result {
  std::vector<float> weights;
  std::vector<double> numbers;
  bool operator==(const Result&) const = default;
};

Result trained(std::size_t replicas, std::size_t processes, std::size_t threads) {
  std::vector<Result> results(processes);
  run_ranks(processes, [&](InMemory& end) {
    Tied<float> model = new_model<float>();
    bd::Training training(
        model, bd::Adam{.rate = 0.01},
        {.clip = 0.5, .threads = threads, .seed = 3, .replicas = replicas, .communicator = end});
    Result& result = results[end.rank()];
    for (const bd::Batch& batch : {rows(70, 9, 1), rows(3, 12, 3), rows(1, 7, 7)}) {
      result.numbers.push_back(training.loss(batch).sum);
      training.backward();
      result.numbers.push_back(training.step());
    }
    result.weights = model.weights().read();
  });
  for (const Result& result : results) CHECK((result == results[0]));
  return results[0];
}

}  // namespace

TEST_CASE("tied weights end with the same bits for any number of processes and threads",
          "[distributed][tied][bits]") {
  for (const std::size_t replicas : {1U, 2U, 4U}) {
    const Result alone = trained(replicas, 1, 1);
    for (const double x : alone.numbers) CHECK(std::isfinite(x));
    for (std::size_t processes = 1; processes <= replicas; processes *= 2)
      for (const std::size_t threads : {1U, 2U, 3U}) {
        if (processes == 1 && threads == 1) continue;
        INFO(replicas << " replicas, " << processes << " processes, " << threads << " threads");
        CHECK((trained(replicas, processes, threads) == alone));
      }
  }
}

TEST_CASE("replicas change the rounding of a tied weight's gradient, and nothing else",
          "[distributed][tied][gradient]") {
  Tied<double> model = new_model<double>();
  const bd::Batch batch = rows(70, 9, 1);
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
  for (const std::size_t replicas : {2U, 4U, 128U}) {
    const auto [same_loss, parts] = gradient(replicas);
    CHECK(same_loss.tokens == loss.tokens);
    CHECK(same_loss.sum == Approx(loss.sum).epsilon(1e-12));
    double worst = 0;
    for (std::size_t i = 0; i < whole.size(); ++i) worst = std::max(worst, std::abs(whole[i] - parts[i]));
    CHECK(worst <= 1e-12 * largest);
  }
}
