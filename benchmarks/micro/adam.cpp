// Adam with clipping over a block of weights larger than the caches.
#include <bahdanau/train/optimizer.hpp>

#include "micro.hpp"

namespace benchmark {

void measure_adam() {
  constexpr std::size_t n = 8'000'000;
  bd::ParameterList list;
  const bd::Parameter p = list.add("weights", {n}, {});
  bd::ParameterBlock<Cpu> weights(list), gradients(list);
  const auto w = random_numbers(n, 1), g = random_numbers(n, 2);
  weights.write(p, w);
  gradients.write(p, g);
  bd::OptimizerState<Cpu> state(list);
  const bd::Adam adam{.rate = 0.005};
  const auto step = [&] { adam.update(state, weights, gradients, {.clip = 0.5}); };
  step();
  std::vector<double> expected;
  for (std::size_t i = 0; i < n; ++i) {
    const double clipped = 0.5 * static_cast<double>(g[i]);  // after one step, m and v corrected are g and g²
    expected.push_back(static_cast<double>(w[i]) - 0.005 * clipped / (std::abs(clipped) + 1e-8));
  }
  require_close("Adam", weights.read().data(), expected);
  print_row("clip + Adam", std::to_string(n) + " weights", nanoseconds(step) / static_cast<double>(n),
            "ns/weight");
}

}  // namespace benchmark
