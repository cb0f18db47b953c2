// The gated recurrent unit with its reset gate before the product: one step by hand, its gradients, and what
// it refuses.
#include <cmath>
#include <cstddef>
#include <vector>

#include <bahdanau/cell/gru.hpp>
#include <bahdanau/cell/gru_reset_before.hpp>
#include <bahdanau/cell/recurrent_layer.hpp>

#include "support/backends.hpp"
#include "support/catch.hpp"
#include "support/cell.hpp"

using namespace bahdanau::test;
using bahdanau::Error;
using bahdanau::GruResetBefore;
using Catch::Matchers::Message;
using Numbers = std::vector<double>;

TEST_CASE("a GRU with its reset gate before the product steps as worked out by hand", "[gru_reset_before]") {
  BoundCell<GruResetBefore, Double> cell(1, 2);
  cell.weights.write(cell.w.weight_ih, Numbers{0.5, -0.5, -1, 1, 2, -2});  // rows r, z, n
  cell.weights.write(cell.w.weight_hh, Numbers{1, 0.5, 0.25, -1, 0.75, 0.1, -0.3, 0.6, -3, 2, 1, -1});
  cell.weights.write(cell.w.bias_ih, Numbers{0.1, 0, 0.2, 0.3, 0.3, -0.1});
  cell.weights.write(cell.w.bias_hh, Numbers{-0.4, 0.2, 0.5, -0.5, 0.6, 0.4});
  const double x = 0.7, h0 = -0.2, h1 = 0.9;
  const auto sigmoid = [](double a) { return 1 / (1 + std::exp(-a)); };
  const double r0 = sigmoid(0.5 * x + 0.1 + 1 * h0 + 0.5 * h1 - 0.4),
               r1 = sigmoid(-0.5 * x + 0.25 * h0 - 1 * h1 + 0.2);
  const double z0 = sigmoid(-1 * x + 0.2 + 0.75 * h0 + 0.1 * h1 + 0.5);
  // n sees r ⊙ h: the other unit's reset gate matters, too
  const double n0 = std::tanh(2 * x + 0.3 - 3 * (r0 * h0) + 2 * (r1 * h1) + 0.6);
  const auto next = GruResetBefore::step<Double>(cell.w, cell.project(cell.tape.leaf({1, 1}, Numbers{x})),
                                                 {cell.tape.leaf({1, 2}, Numbers{h0, h1})});
  CHECK(first_of<Double>(hidden(next).value) == Approx((1 - z0) * n0 + z0 * h0).epsilon(1e-14));
}

TEST_CASE("a step with the reset gate before the product passes the gradient check, weights included",
          "[gru_reset_before][gradient]") {
  for (const std::size_t hidden : {1U, 3U, 9U}) {
    CAPTURE(hidden);
    const auto twice = [](DoubleTape& tape, const GruResetBefore::Weights& w, Inputs in) {
      const auto projected = linear(in[0], tape[w.weight_ih], tape[w.bias_ih]);
      return GruResetBefore::step<Double>(w, projected,
                                          GruResetBefore::step<Double>(w, projected, {in[1]}))[0];
    };
    CHECK(cell_gradient_error<GruResetBefore>(2, hidden, twice, {{3, 2}, {3, hidden}}) <= gradient_tolerance);
  }
}

TEST_CASE("over ragged sentences the weights' gradients are those of the sentences alone",
          "[gru_reset_before][gradient]") {
  const std::vector<std::vector<double>> sentences{{0.3, -0.2, 0.9}, {0.5}, {-0.7, 0.1}};
  const auto gradients_of = [&](const std::vector<std::size_t>& chosen) {
    BoundCell<GruResetBefore, Double> cell(1, 3);
    std::vector<bahdanau::Index> lengths;
    for (const std::size_t s : chosen) lengths.push_back(static_cast<bahdanau::Index>(sentences[s].size()));
    bahdanau::Packing packing;
    packing.assign(lengths);
    Numbers x;
    packing.for_tokens(
        [&](std::size_t, std::size_t row, std::size_t t) { x.push_back(sentences[chosen[row]][t]); });
    const auto outputs =
        bahdanau::run_layer<GruResetBefore, Double>(cell.w, 3, cell.tape.leaf({x.size(), 1}, x), packing)
            .outputs;
    cell.tape.backward(sum(outputs * outputs));
    return numbers_of(cell.gradients);
  };
  const auto together = gradients_of({0, 1, 2});
  std::vector<double> alone(together.size(), 0);
  for (std::size_t s = 0; s < 3; ++s) {
    const auto one = gradients_of({s});
    for (std::size_t i = 0; i < one.size(); ++i) alone[i] += one[i];
  }
  for (std::size_t i = 0; i < alone.size(); ++i) CHECK(together[i] == Approx(alone[i]).margin(1e-13));
}

TEST_CASE("a GRU with its reset gate before the product refuses shapes that do not fit",
          "[gru_reset_before][error]") {
  BoundCell<GruResetBefore, Double> cell(2, 4);
  auto& tape = cell.tape;
  const auto step = [&](bahdanau::Shape projected, bahdanau::Shape h) {
    GruResetBefore::step<Double>(cell.w, tape.zeros(projected), {tape.zeros(h)});
  };
  CHECK_NOTHROW(step({2, 12}, {2, 4}));
  CHECK_THROWS_MATCHES(step({2, 12}, {2, 3}), Error,
                       Message("GruResetBefore::step: expected a state [2, 4], got [2, 3]"));
  CHECK_THROWS_MATCHES(step({3, 12}, {2, 4}), Error,
                       Message("GruResetBefore::step: expected an input product [2, 12], got [3, 12]"));
}
