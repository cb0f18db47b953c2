// The convolutional encoder: a value by hand, sentences of one token and of very many, and what it refuses.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include <bahdanau/bahdanau.hpp>

#include "support/backends.hpp"
#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/message.hpp"

namespace bd = bahdanau;
using namespace bd::test;

namespace {

using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, TestBackend<double>, bd::Convolutional<1, 3>>;

bd::Vocabularies numbered() { return {bd::Vocabulary::numbered(9), bd::Vocabulary::numbered(9), {}}; }

bd::Sequences rows(const std::vector<std::vector<bd::Token>>& sentences) {
  return bd::Sequences::from_rows(sentences);
}

void set(Model& model, const std::string& name, const std::vector<double>& numbers) {
  for (const auto& entry : model.parameters().entries())
    if (entry.name == name) return model.weights().write(entry.parameter, numbers);
  FAIL("no parameter " << name);
}

}  // namespace

TEST_CASE("a convolutional encoder's keys and first state, by hand", "[encoder][convolutional]") {
  Model model({.embed = 1, .hidden = 1, .layers = 1}, numbered());
  std::vector<double> positions(1024, 0.0);
  positions[0] = 0.1;
  positions[1] = 0.2;
  set(model, "encoder.embedding.weight", {0, 0, 0, 0.5, 1, 2, 0, 0, 0});  // of tokens 3, 4 and 5
  set(model, "encoder.position.weight", positions);
  set(model, "encoder.project.weight", {0.5});
  set(model, "encoder.project.bias", {0.25});
  set(model, "encoder.keys.0.weight", {0.3, -0.2, 0.4});
  set(model, "encoder.keys.0.bias", {0.05});
  set(model, "encoder.values.0.weight", {0.1, 0.6, -0.5});
  set(model, "encoder.values.0.bias", {-0.05});
  set(model, "decoder.bridge.h.0.weight", {2});
  set(model, "decoder.bridge.h.0.bias", {0.1});
  const auto encoded = model.encode(rows({{4, 5}, {3}}));
  // x = 0.5 (word + position) + 0.25
  const double x0 = 0.5 * 1.1 + 0.25, x1 = 0.5 * 2.2 + 0.25, y0 = 0.5 * 0.6 + 0.25;
  const auto keys = encoded.outputs();
  CHECK(keys(0, 0, 0) == Approx(std::tanh(-0.2 * x0 + 0.4 * x1 + 0.05 + x0)).epsilon(1e-12));
  CHECK(keys(0, 1, 0) == Approx(std::tanh(0.3 * x0 - 0.2 * x1 + 0.05 + x1)).epsilon(1e-12));
  CHECK(keys(1, 0, 0) == Approx(std::tanh(-0.2 * y0 + 0.05 + y0)).epsilon(1e-12));
  // h = tanh(B m + b), m the mean of the values
  const double v0 = std::tanh(0.6 * x0 - 0.5 * x1 - 0.05 + x0),
               v1 = std::tanh(0.1 * x0 + 0.6 * x1 - 0.05 + x1), u0 = std::tanh(0.6 * y0 - 0.05 + y0);
  const auto state = model.init_state(encoded);
  const auto hidden = state.hidden()[0];
  CHECK(hidden(0, 0) == Approx(std::tanh(2 * (v0 + v1) / 2 + 0.1)).epsilon(1e-12));
  CHECK(hidden(1, 0) == Approx(std::tanh(2 * u0 + 0.1)).epsilon(1e-12));
}

TEST_CASE("a sentence's keys do not depend on its neighbours", "[encoder][convolutional]") {
  const Model model({.embed = 3, .hidden = 5, .layers = 2}, numbered(), 1);
  const std::vector<std::vector<bd::Token>> sentences{{3}, {4, 5, 6, 7, 3}, {8, 3}, {5}, {6, 6, 3}};
  const auto together = model.encode(rows(sentences)).outputs();
  for (std::size_t b = 0; b < sentences.size(); ++b) {
    const auto alone = model.encode(rows({sentences[b]})).outputs();
    for (std::size_t t = 0; t < sentences[b].size(); ++t)
      for (std::size_t c = 0; c < 5; ++c) CHECK(std::abs(alone(0, t, c) - together(b, t, c)) <= 1e-14);
  }
}

TEST_CASE("positions from 1023 on share the last row, and training reaches it", "[encoder][convolutional]") {
  Model model({.embed = 2, .hidden = 3, .layers = 1}, numbered(), 1);
  const std::vector<bd::Token> words(1030, 4);  // all alike: keys differ by their positions alone
  const auto keys = model.encode(rows({words})).outputs();
  const auto apart = [&](std::size_t t, std::size_t u) {
    double largest = 0;
    for (std::size_t c = 0; c < 3; ++c) largest = std::max(largest, std::abs(keys(0, t, c) - keys(0, u, c)));
    return largest;
  };
  CHECK(apart(1024, 1025) == 0);  // windows 1023, 1024, 1025 and 1024, 1025, 1026
  CHECK(apart(1024, 1028) == 0);
  CHECK(apart(1023, 1024) > 1e-3);  // the window of 1023 has 1022
  CHECK(apart(1028, 1029) > 1e-3);  // and that of 1029 ends
  bd::Training<Model> training(model, bd::Adam{}, {.clip = 0});
  training.loss({rows({words}), rows({{5, 3}})});
  training.backward();
  for (const auto& entry : model.parameters().entries()) {
    if (entry.name != "encoder.position.weight") continue;
    const auto gradient = training.gradients().read(entry.parameter);
    CHECK(gradient[1023 * 2] != 0);
    CHECK(gradient[1022 * 2] != 0);
  }
}

TEST_CASE("a convolutional encoder's tensors are nn.Linear's, nn.Embedding's and nn.Conv1d's",
          "[encoder][convolutional]") {
  const Model model({.embed = 2, .hidden = 4, .layers = 1}, numbered());
  std::string names;
  for (const auto& entry : model.parameters().entries())
    if (entry.name.starts_with("encoder.") || entry.name.starts_with("decoder.bridge."))
      names += entry.name + " " + entry.parameter.shape.text() + "\n";
  CHECK(names ==
        "encoder.embedding.weight [9, 2]\n"
        "encoder.position.weight [1024, 2]\n"
        "encoder.project.weight [4, 2]\n"
        "encoder.project.bias [4]\n"
        "encoder.keys.0.weight [4, 4, 3]\n"
        "encoder.keys.0.bias [4]\n"
        "encoder.values.0.weight [4, 4, 3]\n"
        "encoder.values.0.bias [4]\n"
        "decoder.bridge.h.0.weight [4, 4]\n"
        "decoder.bridge.h.0.bias [4]\n");
}

TEST_CASE("a frozen convolutional model has its weights once, and the same keys",
          "[encoder][convolutional]") {
  const Model model({.embed = 16, .hidden = 96, .layers = 1}, numbered(), 1);
  const auto frozen = model.freeze();
  const double weights = static_cast<double>(model.parameters().count() * sizeof(double));
  CHECK(static_cast<double>(frozen.bytes()) >= weights);
  CHECK(static_cast<double>(frozen.bytes()) <= 1.05 * weights);
  const std::string sentence = "4 5 6";
  const auto before = model.translate(sentence, bd::Greedy{.max_length = 5}),
             after = frozen.translate(sentence, bd::Greedy{.max_length = 5});
  CHECK(before.text == after.text);
  CHECK(before.score == Approx(after.score).epsilon(1e-12));
}

TEST_CASE("a convolutional encoder refuses what it has no last states for",
          "[encoder][convolutional][error]") {
  CHECK(message_of([] { Model({.bridge = bd::Bridge::backward}, numbered()); }) ==
        "Config.bridge: expected \"mean\" for a convolutional encoder, which has no last states, got "
        "\"backward\"; use Bidirectional");
  CHECK(message_of([] { Model({.final_state = bd::FinalState::padded}, numbered()); }) ==
        "Config.final_state: expected \"valid\" for a convolutional encoder, which has no last states that "
        "padding could change, got \"padded\"");
  CHECK_NOTHROW(Model({.bridge = bd::Bridge::mean}, numbered()));
}
