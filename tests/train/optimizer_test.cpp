#include <cmath>
#include <vector>

#include <bahdanau/train/optimizer.hpp>
#include <bahdanau/train/schedule.hpp>

#include "support/backends.hpp"
#include "support/catch.hpp"

namespace bd = bahdanau;
using B = bd::test::TestBackend<double>;

namespace {

/// Three steps of an optimizer over a few weights with gradients g = w + step, and clip factor 0.5.
template <class Optimizer>
std::vector<double> three_steps(const Optimizer& optimizer, double rate_factor = 1) {
  bd::ParameterList list;
  const bd::Parameter p = list.add("w", {5}, {});
  bd::ParameterBlock<B> weights(list), gradients(list);
  bd::OptimizerState<B> state(list);
  weights.write(p, std::vector<double>{1, -2, 0.5, 0, 3});
  for (int step = 0; step < 3; ++step) {
    std::vector<double> g = weights.read(p);
    for (double& x : g) x += step;
    gradients.write(p, g);
    optimizer.update(state, weights, gradients, {.clip = 0.5, .rate = rate_factor});
  }
  CHECK(state.steps == 3);
  return weights.read(p);
}

/// The same for one weight, by the textbook: `move(w, g, t)` is the new weight.
template <class Move>
void check(const std::vector<double>& got, Move make) {
  const double first[] = {1, -2, 0.5, 0, 3};
  for (int i = 0; i < 5; ++i) {
    auto move = make();
    double w = first[i];
    for (int step = 0; step < 3; ++step) w = move(w, 0.5 * (w + step), step + 1);
    CHECK(got[static_cast<std::size_t>(i)] == Approx(w).epsilon(1e-12).margin(1e-14));
  }
}

auto adam_by_hand(double rate, double decay) {
  return [=] {
    return [=, m = 0.0, v = 0.0](double w, double g, int t) mutable {
      w -= rate * decay * w;
      m = 0.9 * m + 0.1 * g;
      v = 0.999 * v + 0.001 * g * g;
      return w - rate * (m / (1 - std::pow(0.9, t))) / (std::sqrt(v / (1 - std::pow(0.999, t))) + 1e-8);
    };
  };
}

}  // namespace

TEST_CASE("Adam moves as Kingma and Ba say", "[train][optimizer]") {
  check(three_steps(bd::Adam{.rate = 0.01}), adam_by_hand(0.01, 0));
  check(three_steps(bd::Adam{.rate = 0.01}, 0.25), adam_by_hand(0.0025, 0));
}

TEST_CASE("AdamW decays weights beside the gradient", "[train][optimizer]") {
  check(three_steps(bd::AdamW{.rate = 0.01, .decay = 0.1}), adam_by_hand(0.01, 0.1));
}

TEST_CASE("Sgd adds momentum", "[train][optimizer]") {
  check(three_steps(bd::Sgd{.rate = 0.1, .momentum = 0.9}), [] {
    return [m = 0.0](double w, double g, int) mutable {
      m = 0.9 * m + g;
      return w - 0.1 * m;
    };
  });
}

TEST_CASE("Adadelta moves as Zeiler says", "[train][optimizer]") {
  check(three_steps(bd::Adadelta{}), [] {
    return [v = 0.0, u = 0.0](double w, double g, int) mutable {
      v = 0.95 * v + 0.05 * g * g;
      const double d = std::sqrt(u + 1e-6) / std::sqrt(v + 1e-6) * g;
      u = 0.95 * u + 0.05 * d * d;
      return w - d;
    };
  });
}

TEST_CASE("a warm-up rises linearly to the whole rate", "[train][schedule]") {
  const bd::Schedule schedule{.warm_up = 4};
  const bd::ScheduleState state;
  CHECK(state.at(schedule, 0) == 0.25);
  CHECK(state.at(schedule, 1) == 0.5);
  CHECK(state.at(schedule, 3) == 1.0);
  CHECK(state.at(schedule, 100) == 1.0);
  CHECK(state.at({}, 0) == 1.0);
}

TEST_CASE("the rate decays when the loss stays on a plateau", "[train][schedule]") {
  const bd::Schedule schedule{.patience = 2, .decay = 0.5};
  bd::ScheduleState state;
  const auto after = [&](double loss) {
    state.observe(schedule, loss);
    return state.factor;
  };
  CHECK(after(3.0) == 1.0);
  CHECK(after(3.5) == 1.0);
  CHECK(after(3.2) == 0.5);  // the second epoch without a better one
  CHECK(after(2.0) == 0.5);
  CHECK(after(2.0) == 0.5);
  CHECK(after(2.0) == 0.25);
}
