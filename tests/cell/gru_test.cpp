// The gated recurrent unit: one step by hand, its gradients, and what it refuses.
#include <cmath>
#include <cstddef>
#include <vector>

#include <bahdanau/cell/gru.hpp>

#include "support/backends.hpp"
#include "support/catch.hpp"
#include "support/cell.hpp"

using namespace bahdanau::test;
using bahdanau::Error;
using bahdanau::Gru;
using Catch::Matchers::Message;
using Numbers = std::vector<double>;

TEST_CASE("a GRU of one unit steps as worked out by hand", "[gru]") {
  BoundCell<Gru, Double> cell(1, 1);
  cell.weights.write(cell.w.weight_ih, Numbers{0.5, -1, 2});  // rows r, z, n
  cell.weights.write(cell.w.weight_hh, Numbers{1, 0.25, -3});
  cell.weights.write(cell.w.bias_ih, Numbers{0.1, 0.2, 0.3});
  cell.weights.write(cell.w.bias_hh, Numbers{-0.4, 0.5, 0.6});
  const double x = 0.7, h = -0.2;
  const auto sigmoid = [](double a) { return 1 / (1 + std::exp(-a)); };
  const double r = sigmoid(0.5 * x + 0.1 + 1 * h - 0.4);
  const double z = sigmoid(-1 * x + 0.2 + 0.25 * h + 0.5);
  const double n = std::tanh(2 * x + 0.3 + r * (-3 * h + 0.6));
  const auto next = Gru::step<Double>(cell.w, cell.project(cell.tape.leaf({1, 1}, Numbers{x})),
                                      {cell.tape.leaf({1, 1}, Numbers{h})});
  CHECK(first_of<Double>(hidden(next).value) == Approx((1 - z) * n + z * h).epsilon(1e-14));
}

TEST_CASE("a GRU whose update gate is shut keeps its state, open forgets it", "[gru]") {
  BoundCell<Gru, Double> cell(1, 1);
  cell.weights.clear();
  cell.weights.write(cell.w.bias_ih, Numbers{0, 1000, 0.5});
  const auto h = cell.tape.leaf({1, 1}, Numbers{0.3});
  const auto step = [&] {
    return Gru::step<Double>(cell.w, cell.project(cell.tape.leaf({1, 1}, Numbers{1})), {h})[0].value[0];
  };
  CHECK(step() == 0.3);
  cell.weights.write(cell.w.bias_ih, Numbers{0, -1000, 0.5});
  CHECK(step() == Approx(std::tanh(0.5)).epsilon(1e-15));
}

TEST_CASE("a GRU step passes the gradient check, weights included", "[gru][gradient]") {
  for (const std::size_t hidden : {1U, 3U, 9U}) {
    CAPTURE(hidden);
    const double error = cell_gradient_error<Gru>(2, hidden,
                                                  [](DoubleTape& tape, const Gru::Weights& w, Inputs in) {
                                                    const auto projected =
                                                        linear(in[0], tape[w.weight_ih], tape[w.bias_ih]);
                                                    return Gru::step<Double>(w, projected, {in[1]})[0];
                                                  },
                                                  {{3, 2}, {3, hidden}});
    CHECK(error <= gradient_tolerance);
  }
}

TEST_CASE("a GRU's constant input or state does not disturb the gradients", "[gru][gradient]") {
  const double error = cell_gradient_error<Gru>(
      2, 3,
      [](DoubleTape& tape, const Gru::Weights& w, Inputs in) {
        const auto fixed = tape.constant({2, 9}, Numbers(18, 0.3));
        const auto first = Gru::step<Double>(w, fixed, {in[0]});
        const auto second = Gru::step<Double>(w, fixed, {tape.constant({2, 3}, Numbers(6, -0.4))});
        return Gru::step<Double>(w, fixed, first)[0] * second[0];
      },
      {{2, 3}});
  CHECK(error <= gradient_tolerance);
}

TEST_CASE("a GRU refuses shapes that do not fit", "[gru][error]") {
  BoundCell<Gru, Double> cell(2, 4);
  auto& tape = cell.tape;
  const auto step = [&](bahdanau::Shape projected, bahdanau::Shape h) {
    Gru::step<Double>(cell.w, tape.zeros(projected), {tape.zeros(h)});
  };
  CHECK_NOTHROW(step({2, 12}, {2, 4}));
  CHECK_THROWS_MATCHES(step({2, 11}, {2, 4}), Error,
                       Message("Gru::step: expected an input product [2, 12], got [2, 11]"));
  CHECK_THROWS_MATCHES(step({3, 12}, {2, 4}), Error,
                       Message("Gru::step: expected an input product [2, 12], got [3, 12]"));
  CHECK_THROWS_MATCHES(step({2, 12}, {2, 3}), Error,
                       Message("Gru::step: expected a state [2, 4], got [2, 3]"));
  CHECK_THROWS_MATCHES(cell.project(tape.zeros({2, 3})), Error,
                       Message("linear: expected x of width 2, got [2, 3]"));
}
