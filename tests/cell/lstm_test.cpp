// The long short-term memory: one step by hand, its gradients, and what it refuses.
#include <cmath>
#include <cstddef>
#include <vector>

#include <bahdanau/cell/lstm.hpp>

#include "support/backends.hpp"
#include "support/catch.hpp"
#include "support/cell.hpp"

using namespace bahdanau::test;
using bahdanau::Error;
using bahdanau::Lstm;
using Catch::Matchers::Message;
using Numbers = std::vector<double>;

TEST_CASE("an LSTM of one unit steps as worked out by hand", "[lstm]") {
  BoundCell<Lstm, Double> cell(1, 1);
  cell.weights.write(cell.w.weight_ih, Numbers{0.5, -1, 2, 0.75});  // rows i, f, g, o
  cell.weights.write(cell.w.weight_hh, Numbers{1, 0.25, -3, 1.5});
  cell.weights.write(cell.w.bias_ih, Numbers{0.1, 0.2, 0.3, -0.7});
  cell.weights.write(cell.w.bias_hh, Numbers{-0.4, 0.5, 0.6, 0.8});
  const double x = 0.7, h = -0.2, c = 1.3;
  const auto sigmoid = [](double a) { return 1 / (1 + std::exp(-a)); };
  const double i = sigmoid(0.5 * x + 0.1 + 1 * h - 0.4);
  const double f = sigmoid(-1 * x + 0.2 + 0.25 * h + 0.5);
  const double g = std::tanh(2 * x + 0.3 - 3 * h + 0.6);
  const double o = sigmoid(0.75 * x - 0.7 + 1.5 * h + 0.8);
  const double memory = f * c + i * g;
  const auto next =
      Lstm::step<Double>(cell.w, cell.project(cell.tape.leaf({1, 1}, Numbers{x})),
                         {cell.tape.leaf({1, 1}, Numbers{h}), cell.tape.leaf({1, 1}, Numbers{c})});
  CHECK(first_of<Double>(hidden(next).value) == Approx(o * std::tanh(memory)).epsilon(1e-14));
  CHECK(first_of<Double>(next[1].value) == Approx(memory).epsilon(1e-14));
}

TEST_CASE("an LSTM with open forget gate and shut input gate keeps its memory", "[lstm]") {
  BoundCell<Lstm, Double> cell(1, 1);
  cell.weights.clear();
  cell.weights.write(cell.w.bias_ih, Numbers{-1000, 1000, 0.5, 0});
  const auto next =
      Lstm::step<Double>(cell.w, cell.project(cell.tape.leaf({1, 1}, Numbers{1})),
                         {cell.tape.leaf({1, 1}, Numbers{0.3}), cell.tape.leaf({1, 1}, Numbers{2.5})});
  CHECK(first_of<Double>(next[1].value) == 2.5);
  CHECK(first_of<Double>(next[0].value) == Approx(0.5 * std::tanh(2.5)).epsilon(1e-15));
}

TEST_CASE("an LSTM step passes the gradient check, weights included", "[lstm][gradient]") {
  for (const std::size_t hidden : {1U, 3U, 9U}) {
    CAPTURE(hidden);
    const double error =
        cell_gradient_error<Lstm>(2, hidden,
                                  [](DoubleTape& tape, const Lstm::Weights& w, Inputs in) {
                                    const auto projected = linear(in[0], tape[w.weight_ih], tape[w.bias_ih]);
                                    const auto next = Lstm::step<Double>(w, projected, {in[1], in[2]});
                                    return bahdanau::concat_columns({next[0], next[1]});
                                  },
                                  {{3, 2}, {3, hidden}, {3, hidden}});
    CHECK(error <= gradient_tolerance);
  }
}

TEST_CASE("an LSTM's constant input or state does not disturb the gradients", "[lstm][gradient]") {
  const double error = cell_gradient_error<Lstm>(
      2, 3,
      [](DoubleTape& tape, const Lstm::Weights& w, Inputs in) {
        const auto fixed = tape.constant({2, 12}, Numbers(24, 0.3)), zero = tape.zeros({2, 3});
        const auto first = Lstm::step<Double>(w, fixed, {in[0], zero});
        const auto second = Lstm::step<Double>(w, fixed, {zero, zero});
        return Lstm::step<Double>(w, fixed, {second[0], first[1]})[0] * first[0];
      },
      {{2, 3}});
  CHECK(error <= gradient_tolerance);
}

TEST_CASE("an LSTM refuses shapes that do not fit", "[lstm][error]") {
  BoundCell<Lstm, Double> cell(2, 4);
  auto& tape = cell.tape;
  const auto step = [&](bahdanau::Shape projected, bahdanau::Shape h, bahdanau::Shape c) {
    Lstm::step<Double>(cell.w, tape.zeros(projected), {tape.zeros(h), tape.zeros(c)});
  };
  CHECK_NOTHROW(step({2, 16}, {2, 4}, {2, 4}));
  CHECK_THROWS_MATCHES(step({2, 12}, {2, 4}, {2, 4}), Error,
                       Message("Lstm::step: expected an input product [2, 16], got [2, 12]"));
  CHECK_THROWS_MATCHES(step({2, 16}, {2, 4}, {1, 4}), Error,
                       Message("Lstm::step: expected a memory c [2, 4], got [1, 4]"));
  CHECK_THROWS_MATCHES(step({2, 16}, {2, 3}, {2, 3}), Error,
                       Message("Lstm::step: expected a state [2, 4], got [2, 3]"));
  DoubleTape other;
  CHECK_THROWS_MATCHES(
      Lstm::step<Double>(cell.w, tape.zeros({2, 16}), {tape.zeros({2, 4}), other.zeros({2, 4})}), Error,
      Message("Lstm::step: expected variables of one tape, got variables of two tapes"));
}
