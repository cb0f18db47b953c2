// Normalised cells, and residual connections between layers, as laws of all models.
#include <string>
#include <vector>

#include "family/laws.hpp"
#include "support/backends.hpp"
#include "support/catch.hpp"

namespace bd = bahdanau;
using namespace bd::test;

TEST_CASE("a normalised GRU in both directions keeps the laws, with residual connections", "[family][norm]") {
  bd::Config config;
  config.residual = true;
  check_laws<
      bd::EncoderDecoder<bd::LayerNorm<bd::Gru>, bd::Additive, TestBackend<double>, bd::Bidirectional>>(
      config, 3);
}

TEST_CASE("a normalised LSTM keeps the laws, with residual connections and input feeding", "[family][norm]") {
  bd::Config config;
  config.residual = true;
  check_laws<bd::EncoderDecoder<bd::LayerNorm<bd::Lstm>, bd::General, TestBackend<double>, bd::InputFeeding>>(
      config, 3);
}

TEST_CASE("residual connections add each layer's input from the second layer on", "[family][residual]") {
  // A GRU whose weights are all 0 halves its state at each step: from 0 it gives 0, so what comes out of any
  // number of layers with residual connections is what the first one has made.
  using Model =
      bd::EncoderDecoder<bd::LayerNorm<bd::Gru>, bd::Additive, TestBackend<double>, bd::Bidirectional>;
  bd::Config one{.embed = 5, .hidden = 6, .layers = 1}, three = one;
  three.layers = 3;
  three.residual = true;
  const Model small(one, small_vocabularies(), 7);
  Model large(three, small_vocabularies(), 7);
  for (const auto& entry : large.parameters().entries()) {
    if (!entry.name.starts_with("encoder.rnn.")) continue;
    if (entry.name.find("_l1") != entry.name.npos || entry.name.find("_l2") != entry.name.npos)
      large.weights().write(entry.parameter, std::vector<double>(entry.parameter.shape.size()));
  }
  const auto source = ragged_batch().source;
  CHECK(largest_difference(large.encode(source).outputs(), small.encode(source).outputs()) == 0);
}
