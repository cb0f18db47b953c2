// Normalised cells: one step by hand, their gradients, their parameters, and what they refuse.
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include <bahdanau/cell/gru.hpp>
#include <bahdanau/cell/layer_norm.hpp>
#include <bahdanau/cell/lstm.hpp>
#include <bahdanau/cell/rnn.hpp>

#include "support/backends.hpp"
#include "support/catch.hpp"
#include "support/cell.hpp"

using namespace bahdanau::test;
using bahdanau::Error;
using bahdanau::Gru;
using bahdanau::LayerNorm;
using bahdanau::Lstm;
using bahdanau::Rnn;
using Catch::Matchers::Message;
using Numbers = std::vector<double>;

static_assert(bahdanau::Cell<LayerNorm<Gru>> && bahdanau::Cell<LayerNorm<Lstm>> &&
              bahdanau::Cell<LayerNorm<Rnn>>);
static_assert(LayerNorm<Lstm>::name == "layer_norm(lstm)");

namespace {

/// Numbers of mean 0 and variance 1, times a gain, plus a bias.
Numbers normed(Numbers v, double gain, double bias) {
  double mean = 0, variance = 0;
  for (const double x : v) mean += x / static_cast<double>(v.size());
  for (const double x : v) variance += (x - mean) * (x - mean) / static_cast<double>(v.size());
  for (double& x : v) x = gain * (x - mean) / std::sqrt(variance + 1e-5) + bias;
  return v;
}
double sigmoid(double a) { return 1 / (1 + std::exp(-a)); }

}  // namespace

TEST_CASE("a normalised GRU of one unit steps as worked out by hand", "[gru][norm]") {
  BoundCell<LayerNorm<Gru>, Double> cell(1, 1);
  cell.weights.write(cell.w.weight_ih, Numbers{0.5, -1, 2});  // rows r, z, n
  cell.weights.write(cell.w.weight_hh, Numbers{1, 0.25, -3});
  cell.weights.write(cell.w.bias_ih, Numbers{0.1, 0.2, 0.3});
  cell.weights.write(cell.w.bias_hh, Numbers{-0.4, 0.5, 0.6});
  cell.weights.write(cell.w.norm_ih.gain, Numbers{2, 2, 2});
  cell.weights.write(cell.w.norm_hh.bias, Numbers{-0.5, -0.5, -0.5});
  const double x = 0.7, h = -0.2;
  const Numbers from_x = normed({0.5 * x + 0.1, -1 * x + 0.2, 2 * x + 0.3}, 2, 0);
  const Numbers from_h = normed({1 * h - 0.4, 0.25 * h + 0.5, -3 * h + 0.6}, 1, -0.5);
  const double r = sigmoid(from_x[0] + from_h[0]), z = sigmoid(from_x[1] + from_h[1]);
  const double n = std::tanh(from_x[2] + r * from_h[2]);
  const auto next = LayerNorm<Gru>::step<Double>(cell.w, cell.project(cell.tape.leaf({1, 1}, Numbers{x})),
                                                 {cell.tape.leaf({1, 1}, Numbers{h})});
  CHECK(first_of<Double>(next[0].value) == Approx((1 - z) * n + z * h).epsilon(1e-14));
}

TEST_CASE("a normalised LSTM of two units steps as worked out by hand", "[lstm][norm]") {
  BoundCell<LayerNorm<Lstm>, Double> cell(1, 2);
  cell.weights.clear();
  cell.weights.write(cell.w.norm_ih.bias, Numbers{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8});  // i, f, g, o
  cell.weights.write(cell.w.norm_c.gain, Numbers{1.5, 1.5});
  cell.weights.write(cell.w.norm_c.bias, Numbers{0.25, 0.25});
  const double c[] = {0.9, -0.4};
  const double memory[] = {sigmoid(0.3) * c[0] + sigmoid(0.1) * std::tanh(0.5),
                           sigmoid(0.4) * c[1] + sigmoid(0.2) * std::tanh(0.6)};
  const Numbers seen = normed({memory[0], memory[1]}, 1.5, 0.25);
  const auto next = LayerNorm<Lstm>::step<Double>(
      cell.w, cell.project(cell.tape.leaf({1, 1}, Numbers{1})),
      {cell.tape.leaf({1, 2}, Numbers{0.3, -0.1}), cell.tape.leaf({1, 2}, Numbers{c[0], c[1]})});
  const auto h_next = on_host<Double>(next[0].value, 2), c_next = on_host<Double>(next[1].value, 2);
  CHECK(c_next[0] == Approx(memory[0]).epsilon(1e-14));  // the memory itself goes on as it is
  CHECK(c_next[1] == Approx(memory[1]).epsilon(1e-14));
  CHECK(h_next[0] == Approx(sigmoid(0.7) * std::tanh(seen[0])).epsilon(1e-14));
  CHECK(h_next[1] == Approx(sigmoid(0.8) * std::tanh(seen[1])).epsilon(1e-14));
}

TEST_CASE("normalised steps pass the gradient check, weights included", "[norm][gradient]") {
  for (const std::size_t hidden : {2U, 9U}) {
    CAPTURE(hidden);
    const auto project = [](DoubleTape& tape, const auto& w, const DoubleVariable& x) {
      return linear(x, tape[w.weight_ih], tape[w.bias_ih]);
    };
    const double gru = cell_gradient_error<LayerNorm<Gru>>(
        2, hidden,
        [&](DoubleTape& tape, const LayerNorm<Gru>::Weights& w, Inputs in) {
          const auto first = LayerNorm<Gru>::step<Double>(w, project(tape, w, in[0]), {in[1]});
          return LayerNorm<Gru>::step<Double>(w, project(tape, w, in[0]), first)[0];
        },
        {{3, 2}, {3, hidden}});
    CHECK(gru <= gradient_tolerance);
    const double rnn = cell_gradient_error<LayerNorm<Rnn>>(
        2, hidden,
        [&](DoubleTape& tape, const LayerNorm<Rnn>::Weights& w, Inputs in) {
          const auto first = LayerNorm<Rnn>::step<Double>(w, project(tape, w, in[0]), {in[1]});
          return LayerNorm<Rnn>::step<Double>(w, project(tape, w, in[0]), first)[0];
        },
        {{3, 2}, {3, hidden}});
    CHECK(rnn <= gradient_tolerance);
    const double lstm = cell_gradient_error<LayerNorm<Lstm>>(
        2, hidden,
        [&](DoubleTape& tape, const LayerNorm<Lstm>::Weights& w, Inputs in) {
          const auto first = LayerNorm<Lstm>::step<Double>(w, project(tape, w, in[0]), {in[1], in[2]});
          const auto next = LayerNorm<Lstm>::step<Double>(w, project(tape, w, in[0]), first);
          return bahdanau::concat_columns({next[0], next[1]});
        },
        {{3, 2}, {3, hidden}, {3, hidden}});
    CHECK(lstm <= gradient_tolerance);
  }
}

TEST_CASE("gains begin at 1 and biases at 0, under PyTorch's kind of names", "[norm]") {
  bahdanau::ParameterList list;
  const auto w = LayerNorm<Lstm>::declare(bahdanau::Scope(list, "encoder.rnn.", "_l0_reverse"), 3, 2);
  std::vector<std::string> names;
  for (const auto& entry : list.entries()) names.push_back(entry.name);
  CHECK(names == std::vector<std::string>{
                     "encoder.rnn.weight_ih_l0_reverse", "encoder.rnn.weight_hh_l0_reverse",
                     "encoder.rnn.bias_ih_l0_reverse", "encoder.rnn.bias_hh_l0_reverse",
                     "encoder.rnn.norm_ih_l0_reverse.weight", "encoder.rnn.norm_ih_l0_reverse.bias",
                     "encoder.rnn.norm_hh_l0_reverse.weight", "encoder.rnn.norm_hh_l0_reverse.bias",
                     "encoder.rnn.norm_c_l0_reverse.weight", "encoder.rnn.norm_c_l0_reverse.bias"});
  bahdanau::ParameterBlock<Double> weights(list);
  weights.initialize(list, 1);
  CHECK(weights.read(w.norm_hh.gain) == Numbers(8, 1));
  CHECK(weights.read(w.norm_hh.bias) == Numbers(8, 0));
  CHECK(weights.read(w.norm_c.gain) == Numbers(2, 1));
}

TEST_CASE("a normalised cell refuses shapes that do not fit", "[norm][error]") {
  BoundCell<LayerNorm<Gru>, Double> cell(2, 4);
  auto& tape = cell.tape;
  CHECK_THROWS_MATCHES(LayerNorm<Gru>::step<Double>(cell.w, tape.zeros({2, 9}), {tape.zeros({2, 4})}), Error,
                       Message("layer_norm: expected a gain [9], got [12]"));
  CHECK_THROWS_MATCHES(LayerNorm<Gru>::step<Double>(cell.w, tape.zeros({2, 12}), {tape.zeros({3, 4})}), Error,
                       Message("Gru::combine: expected an input product [3, 12], got [2, 12]"));
}
