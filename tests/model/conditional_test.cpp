// The conditional decoder: one step by hand, with a stranger's cell, and its tensors.
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <bahdanau/bahdanau.hpp>

#include "support/backends.hpp"
#include "support/catch.hpp"

namespace bd = bahdanau;
using namespace bd::test;

namespace {

/// h' = tanh(x + U h + b), put together from operations.
struct TanhCell {
  static constexpr std::string_view name = "tanh_cell";
  static constexpr std::size_t parts = 1;
  static constexpr std::array<std::string_view, parts> part_names{"h"};
  using Weights = bd::RecurrentWeights;
  static Weights declare(bd::Scope scope, std::size_t inputs, std::size_t hidden) {
    return Weights::declare(scope, 1, inputs, hidden);
  }
  template <bd::Backend B>
  static bd::CellState<TanhCell, B> step(const Weights& w, const bd::Variable<B>& projected,
                                         const bd::CellState<TanhCell, B>& state) {
    return {tanh(projected + linear(state[0], w.weight_hh, w.bias_hh))};
  }
};

using Model = bd::EncoderDecoder<TanhCell, bd::Dot, TestBackend<double>, bd::Conditional>;

Model small(std::size_t layers) {
  return Model({.embed = 1, .hidden = 1, .layers = layers},
               {bd::Vocabulary::numbered(5), bd::Vocabulary::numbered(5), {}}, 1);
}

}  // namespace

TEST_CASE("a step of the conditional decoder, by hand", "[decoder][conditional]") {
  const Model model = small(2);
  const auto weight = [&](const std::string& name, std::size_t i = 0) {
    for (const auto& entry : model.parameters().entries())
      if (entry.name == name) return model.weights().read(entry.parameter)[i];
    FAIL("no parameter " << name);
    return 0.0;
  };
  const auto cell = [&](const std::string& rnn, const std::string& layer, double x, double h) {
    return std::tanh(weight(rnn + ".weight_ih" + layer) * x + weight(rnn + ".bias_ih" + layer) +
                     weight(rnn + ".weight_hh" + layer) * h + weight(rnn + ".bias_hh" + layer));
  };
  // A source of one token: its key is the context, whatever the query is.
  const double e0 = cell("encoder.rnn", "_l0", weight("encoder.embedding.weight", 4), 0);
  const double e1 = cell("encoder.rnn", "_l1", e0, 0);
  const double y = weight("decoder.embedding.weight", bd::reserved::bos);
  // s' = Cell₁(y, s), s = Cell₂(c, s'), and the second layer reads s
  const double between = cell("decoder.rnn", "_l0", y, e0);
  const double s0 = cell("decoder.rnn2", "_l0", e1, between);
  const double s1 = cell("decoder.rnn", "_l1", s0, e1);
  auto state =
      model.init_state(model.encode(bd::Sequences::from_rows(std::vector<std::vector<bd::Token>>{{4}})));
  const auto logits = model.step(std::vector<bd::Token>{bd::reserved::bos}, state);
  for (std::size_t v = 0; v < 5; ++v)
    CHECK(logits(0, v) ==
          Approx(weight("decoder.dense.weight", v) * s1 + weight("decoder.dense.bias", v)).epsilon(1e-12));
  CHECK(state.hidden()[0](0, 0) == Approx(s0).epsilon(1e-12));
  CHECK(state.hidden()[1](0, 0) == Approx(s1).epsilon(1e-12));
}

TEST_CASE("the query is the state between the two cells", "[decoder][conditional]") {
  const Model model = small(1);
  const auto weight = [&](const std::string& name, std::size_t i = 0) {
    for (const auto& entry : model.parameters().entries())
      if (entry.name == name) return model.weights().read(entry.parameter)[i];
    FAIL("no parameter " << name);
    return 0.0;
  };
  const auto cell = [&](const std::string& rnn, double x, double h) {
    return std::tanh(weight(rnn + ".weight_ih_l0") * x + weight(rnn + ".bias_ih_l0") +
                     weight(rnn + ".weight_hh_l0") * h + weight(rnn + ".bias_hh_l0"));
  };
  const double k0 = cell("encoder.rnn", weight("encoder.embedding.weight", 4), 0);
  const double k1 = cell("encoder.rnn", weight("encoder.embedding.weight", 3), k0);
  const double query = cell("decoder.rnn", weight("decoder.embedding.weight", bd::reserved::bos), k1);
  auto state =
      model.init_state(model.encode(bd::Sequences::from_rows(std::vector<std::vector<bd::Token>>{{4, 3}})));
  model.step(std::vector<bd::Token>{bd::reserved::bos}, state);
  const double a0 = std::exp(query * k0), a1 = std::exp(query * k1);
  CHECK(state.attention_weights()[0](0, 0) == Approx(a0 / (a0 + a1)).epsilon(1e-12));
}

TEST_CASE("the conditional decoder's first cell reads the token alone, its second one the context",
          "[decoder][conditional]") {
  const Model model({.embed = 3, .hidden = 4, .layers = 2},
                    {bd::Vocabulary::numbered(5), bd::Vocabulary::numbered(5), {}});
  std::string names;
  for (const auto& entry : model.parameters().entries())
    if (entry.name.starts_with("decoder.rnn") && entry.name.find("weight") != std::string::npos)
      names += entry.name + " " + entry.parameter.shape.text() + "\n";
  CHECK(names ==
        "decoder.rnn.weight_ih_l0 [4, 3]\n"
        "decoder.rnn.weight_hh_l0 [4, 4]\n"
        "decoder.rnn.weight_ih_l1 [4, 4]\n"
        "decoder.rnn.weight_hh_l1 [4, 4]\n"
        "decoder.rnn2.weight_ih_l0 [4, 4]\n"
        "decoder.rnn2.weight_hh_l0 [4, 4]\n");
}
