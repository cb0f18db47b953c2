// Sources that are read from their ends: a model then does what it does with reversed rows, and reports in
// the order of the source.
#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "family/laws.hpp"
#include "support/backends.hpp"
#include "support/catch.hpp"
#include "support/message.hpp"

namespace bd = bahdanau;
using namespace bd::test;

using B = TestBackend<double>;
using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, B, bd::InputFeeding>;

namespace {

bd::Vocabularies reversing() {
  bd::Vocabularies v = small_vocabularies();
  v.text.reverse_source = true;
  return v;
}

/// Each row's valid tokens in reverse order, `<eos>` first.
bd::Batch reversed(bd::Batch batch) {
  for (std::size_t r = 0; r < batch.source.rows(); ++r) {
    bd::Token* row = batch.source.tokens.data() + r * batch.source.width();
    std::reverse(row, row + batch.source.lengths[r]);
  }
  return batch;
}

const bd::Config config{.embed = 5, .hidden = 6, .layers = 2, .final_state = bd::FinalState::valid};

}  // namespace

TEST_CASE("a model that reverses sources does what it does with reversed rows", "[reverse_source]") {
  for (const bd::FinalState rule : {bd::FinalState::valid, bd::FinalState::padded}) {
    bd::Config settings = config;
    settings.final_state = rule;
    Model model(settings, reversing(), 3), usual(settings, small_vocabularies(), 3);
    const bd::Batch batch = ragged_batch(), turned = reversed(batch);
    const auto got = model.forward(batch), expected = usual.forward(turned);
    CHECK(largest_difference(got.logits, expected.logits) == 0);
    REQUIRE(got.attention.shape() == expected.attention.shape());
    double apart = 0, moved = 0;
    for (std::size_t b = 0; b < batch.source.rows(); ++b)
      for (std::size_t t = 0; t < got.attention.shape(1); ++t)
        for (std::size_t s = 0, n = static_cast<std::size_t>(batch.source.lengths[b]); s < n; ++s) {
          apart = std::max(apart, std::abs(got.attention(b, t, s) - expected.attention(b, t, n - 1 - s)));
          moved = std::max(moved, std::abs(got.attention(b, t, s) - expected.attention(b, t, s)));
        }
    CHECK(apart == 0);
    CHECK(moved > 1e-3);
    // The outputs stand beside the attention: their mean by it is the context.
    const auto outputs = model.encode(batch.source).outputs(), other = usual.encode(turned.source).outputs();
    for (std::size_t s = 0; s < 6; ++s) CHECK(outputs(1, s, 0) == other(1, 5 - s, 0));

    bd::Training<Model> training(model, bd::Adam{}, {.threads = 1}), same(usual, bd::Adam{}, {.threads = 1});
    CHECK(training.loss(batch).sum == same.loss(turned).sum);
    training.backward();
    same.backward();
    CHECK(training.gradients().read() == same.gradients().read());
  }
}

TEST_CASE("searches, steps and forced decoding report attention in the order of the source",
          "[reverse_source]") {
  Model model(config, reversing(), 3);
  check_steps(model);
  check_search(model);
  check_file(model);
  CHECK(model.translate("4 5 6").source == std::vector<std::string>{"4", "5", "6", "<eos>"});
}

TEST_CASE("a model file says that sources are reversed, and only then", "[reverse_source][file]") {
  const TemporaryDirectory folder;
  Model model(config, reversing(), 3), usual(config, small_vocabularies(), 3);
  model.save(folder / "reversed");
  usual.save(folder / "usual");
  CHECK(Model::load(folder / "reversed").vocabularies().text.reverse_source);
  CHECK_FALSE(Model::load(folder / "usual").vocabularies().text.reverse_source);
  CHECK(contents(folder / "usual").find("reverse") == std::string::npos);
  CHECK(message_of([&] { usual.load_weights(folder / "reversed"); }) ==
        (folder / "reversed").string() + ": expected a model with reverse_source \"false\", got \"true\"");
}

TEST_CASE("a corpus tells its model to reverse sources, and keeps its rows as they are", "[reverse_source]") {
  const std::vector<bd::SentencePair> pairs{{"a b c", "x y"}, {"a b", "y"}};
  const auto corpus = bd::Corpus::from_pairs(pairs, {.min_frequency = 1, .reverse_source = true});
  CHECK(corpus.vocabularies().text.reverse_source);
  CHECK(corpus.source()[0].back() == bd::reserved::eos);
  CHECK(corpus.cut_rows() == 0);
  Model model(config, corpus.vocabularies());
  CHECK(model.architecture().settings().at("text") == "words, lower case, uncut, sources reversed");
}
