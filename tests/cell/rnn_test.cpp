// The plain recurrent cell: one step by hand, its gradients, and what it refuses.
#include <cmath>
#include <cstddef>
#include <vector>

#include <bahdanau/cell/recurrent_layer.hpp>
#include <bahdanau/cell/rnn.hpp>

#include "support/backends.hpp"
#include "support/catch.hpp"
#include "support/cell.hpp"

using namespace bahdanau::test;
using bahdanau::Error;
using bahdanau::Rnn;
using Catch::Matchers::Message;
using Numbers = std::vector<double>;

TEST_CASE("a plain cell steps as worked out by hand", "[rnn]") {
  BoundCell<Rnn, Double> cell(1, 2);
  cell.weights.write(cell.w.weight_ih, Numbers{0.5, -1.5});
  cell.weights.write(cell.w.weight_hh, Numbers{1, 0.5, 0.25, -1});
  cell.weights.write(cell.w.bias_ih, Numbers{0.1, 0.3});
  cell.weights.write(cell.w.bias_hh, Numbers{-0.4, 0.2});
  const double x = 0.7, h0 = -0.2, h1 = 0.9;
  const auto next = Rnn::step<Double>(cell.w, cell.project(cell.tape.leaf({1, 1}, Numbers{x})),
                                      {cell.tape.leaf({1, 2}, Numbers{h0, h1})});
  const auto got = on_host<Double>(hidden(next).value, 2);
  CHECK(got[0] == Approx(std::tanh(0.5 * x + 0.1 + 1 * h0 + 0.5 * h1 - 0.4)).epsilon(1e-14));
  CHECK(got[1] == Approx(std::tanh(-1.5 * x + 0.3 + 0.25 * h0 - 1 * h1 + 0.2)).epsilon(1e-14));
}

TEST_CASE("a plain cell's step passes the gradient check, weights included", "[rnn][gradient]") {
  for (const std::size_t hidden : {1U, 3U, 9U}) {
    CAPTURE(hidden);
    const auto twice = [](DoubleTape& tape, const Rnn::Weights& w, Inputs in) {
      const auto projected = linear(in[0], tape[w.weight_ih], tape[w.bias_ih]);
      return Rnn::step<Double>(w, projected, Rnn::step<Double>(w, projected, {in[1]}))[0];
    };
    CHECK(cell_gradient_error<Rnn>(2, hidden, twice, {{3, 2}, {3, hidden}}) <= gradient_tolerance);
  }
}

TEST_CASE("a layer of plain cells passes the gradient check over ragged sentences", "[rnn][gradient]") {
  bahdanau::Packing packing;
  packing.assign(std::vector<bahdanau::Index>{3, 1, 2});
  const auto layer = [&](DoubleTape&, const Rnn::Weights& w, Inputs in) {
    const auto result = bahdanau::run_layer<Rnn, Double>(w, 3, in[0], packing);
    return bahdanau::concat_rows<Double>({result.outputs, result.last[0]});
  };
  CHECK(cell_gradient_error<Rnn>(2, 3, layer, {{6, 2}}) <= gradient_tolerance);
}

TEST_CASE("a plain cell refuses shapes that do not fit", "[rnn][error]") {
  BoundCell<Rnn, Double> cell(2, 4);
  auto& tape = cell.tape;
  const auto step = [&](bahdanau::Shape projected, bahdanau::Shape h) {
    Rnn::step<Double>(cell.w, tape.zeros(projected), {tape.zeros(h)});
  };
  CHECK_NOTHROW(step({2, 4}, {2, 4}));
  CHECK_THROWS_MATCHES(step({2, 4}, {2, 3}), Error,
                       Message("Rnn::step: expected a state [2, 4], got [2, 3]"));
  CHECK_THROWS_MATCHES(step({3, 4}, {2, 4}), Error,
                       Message("Rnn::step: expected an input product [2, 4], got [3, 4]"));
}
