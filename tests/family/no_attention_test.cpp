// Models without attention, as laws of all models; what they give in the place of attention, and what they
// refuse.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "family/laws.hpp"
#include "support/backends.hpp"
#include "support/catch.hpp"
#include "support/message.hpp"

namespace bd = bahdanau;
using namespace bd::test;

using B = TestBackend<double>;

namespace {

std::vector<std::string> names_of(const bd::ParameterList& list) {
  std::vector<std::string> out;
  for (const auto& entry : list.entries()) out.push_back(entry.name + " " + entry.parameter.shape.text());
  return out;
}

bool has(const bd::ParameterList& list, const std::string& what) {
  const auto names = names_of(list);
  return std::find(names.begin(), names.end(), what) != names.end();
}

/// A stranger's decoder that does not attend, and leaves its steps to the model.
struct StepByStep {
  static constexpr std::string_view name = "step_by_step";
  static constexpr bool attends = false, attends_before_step = false;
  template <class C>
  class Network : public bd::StackedDecoder<C> {
   public:
    Network(bd::Scope scope, const bd::DecoderSizes& sizes) : bd::StackedDecoder<C>(scope, 0, sizes) {}
    template <class S, bd::Backend Any>
    bd::StepOutput<Any> step(bd::DecoderStep<S, Any>& step, const bd::Variable<Any>& known,
                             bd::StackedState<C, Any>& state) const {
      return {this->cells_.step(step, known, state), {}, {}};
    }
  };
};
static_assert(bd::Decoder<StepByStep>);

/// A model of one unit, with these weights.
template <class Model>
Model unit_model(const std::vector<double>& weights) {
  Model model({.embed = 1, .hidden = 1, .layers = 1},
              {bd::Vocabulary::numbered(5), bd::Vocabulary::numbered(5), {}});
  REQUIRE(model.parameters().count() == weights.size());
  std::size_t at = 0;
  for (const auto& entry : model.parameters().entries()) {
    const std::size_t size = entry.parameter.shape.size();
    model.weights().write(entry.parameter,
                          std::vector<double>(weights.begin() + static_cast<std::ptrdiff_t>(at),
                                              weights.begin() + static_cast<std::ptrdiff_t>(at + size)));
    at += size;
  }
  return model;
}

}  // namespace

TEST_CASE("a plain decoder steps as worked out by hand", "[family][plain]") {
  // embeddings, then W_ih, W_hh, b_ih, b_hh of encoder and decoder, then dense
  const auto model = unit_model<bd::EncoderDecoder<bd::Rnn, bd::NoScore, B, bd::Plain, bd::ConcatReadout>>(
      {0.1,      0.2, 0.3,  0.4, 0.5,    /**/ 0.7, -0.3, 0.1, 0.05, /**/ -0.1, -0.2, 0.6, 0.3, 0.9,
       /**/ 1.1, 0.4, -0.2, 0.3, /**/ 1, 2,        3,    4,   5,    6,         7,    8,   9,   10,
       /**/ 0,   0,   0,    0,   0.5});
  // The source is token 4, then <eos> (3); the decoder reads <bos> (2), then token 4.
  const double h1 = std::tanh(0.7 * 0.5 + 0.1 + 0.05), h2 = std::tanh(0.7 * 0.4 + 0.1 - 0.3 * h1 + 0.05);
  const double s1 = std::tanh(1.1 * 0.6 - 0.2 + 0.4 * h2 + 0.3),
               s2 = std::tanh(1.1 * 0.9 - 0.2 + 0.4 * s1 + 0.3);
  const std::vector<std::vector<bd::Token>> source{{4, 3}}, target{{4, 3}};
  const auto out = model.forward({bd::Sequences::from_rows(source), bd::Sequences::from_rows(target)});
  CHECK(out.logits(0, 0, 0) == Approx(1 * s1 + 2 * 0.6).epsilon(1e-13));  // [s ; y]: no context
  CHECK(out.logits(0, 1, 4) == Approx(9 * s2 + 10 * 0.9 + 0.5).epsilon(1e-13));
}

TEST_CASE("a fixed context enters each step and the readout as worked out by hand",
          "[family][fixed_context]") {
  const auto model =
      unit_model<bd::EncoderDecoder<bd::Rnn, bd::NoScore, B, bd::FixedContext, bd::ConcatReadout>>(
          {0.1,       0.2, 0.3, 0.4,  0.5, /**/ 0.7, -0.3, 0.1, 0.05, /**/ -0.1, -0.2, 0.6, 0.3, 0.9,
           /**/ -0.8, 1.1, 0.4, -0.2, 0.3, /**/ 1,   2,    3,   4,    5,         6,    7,   8,   9,
           10,        11,  12,  13,   14,  15,
           /**/ 0,    0,   0,   0,    0.5});
  const double h1 = std::tanh(0.7 * 0.5 + 0.1 + 0.05), c = std::tanh(0.7 * 0.4 + 0.1 - 0.3 * h1 + 0.05);
  const double s1 = std::tanh(-0.8 * c + 1.1 * 0.6 - 0.2 + 0.4 * c + 0.3),
               s2 = std::tanh(-0.8 * c + 1.1 * 0.9 - 0.2 + 0.4 * s1 + 0.3);
  const std::vector<std::vector<bd::Token>> source{{4, 3}}, target{{4, 3}};
  const auto out = model.forward({bd::Sequences::from_rows(source), bd::Sequences::from_rows(target)});
  CHECK(out.logits(0, 0, 0) == Approx(1 * s1 + 2 * c + 3 * 0.6).epsilon(1e-13));
  CHECK(out.logits(0, 1, 4) == Approx(13 * s2 + 14 * c + 15 * 0.9 + 0.5).epsilon(1e-13));
}

TEST_CASE("steps at once are steps one by one, dropout included", "[family][plain]") {
  using AtOnce = bd::EncoderDecoder<bd::Gru, bd::NoScore, B, bd::Plain>;
  using OneByOne = bd::EncoderDecoder<bd::Gru, bd::NoScore, B, StepByStep>;
  const bd::Config config{.embed = 5, .hidden = 6, .layers = 3, .dropout = 0.3F};
  AtOnce at_once(config, small_vocabularies(), 5);
  OneByOne one_by_one(config, small_vocabularies(), 5);
  const bd::Batch batch = ragged_batch();
  bd::Training<AtOnce> first(at_once, bd::Adam{}, {.threads = 1, .checked = true});
  bd::Training<OneByOne> second(one_by_one, bd::Adam{}, {.threads = 1, .checked = true});
  for (int step = 0; step < 3; ++step) {
    CHECK(first.loss(batch).sum == Approx(second.loss(batch).sum).epsilon(1e-12));
    first.backward();
    second.backward();
    CHECK(largest_difference(first.gradients().read(), second.gradients().read()) <= 1e-12);
    first.step();
    second.step();
  }
  check_steps(one_by_one);
  check_search(one_by_one);
}

TEST_CASE("a model without attention gives empty attention, and makes no keys", "[family][error]") {
  using Model = bd::models::Sutskever<B>;
  const Model model({.embed = 5, .hidden = 6, .layers = 2}, small_vocabularies(), 7);
  const bd::Batch batch = ragged_batch();
  const auto decoded = model.forward(batch);
  CHECK(decoded.attention.shape(0) == 4);
  CHECK(decoded.attention.shape(1) == 5);
  CHECK(decoded.attention.shape(2) == 0);
  CHECK(decoded.keys == std::vector<bd::Index>(4, 0));

  const auto encoded = model.encode(batch.source);
  CHECK(encoded.outputs().shape(1) == 6);  // shown to whoever encodes
  auto state = model.init_state(encoded);
  model.step(std::vector<bd::Token>(4, bd::reserved::bos), state);
  REQUIRE(model.attention_weights(state).size() == 1);
  CHECK(model.attention_weights(state)[0].shape(0) == 4);
  CHECK(model.attention_weights(state)[0].shape(1) == 0);

  // Nobody else needs them.
  bd::Tape<B> tape(model.frozen_model()->binding());
  bd::Encoding<bd::Lstm, B> encoding;
  model.run_encoder("test", tape, bd::SequenceRows::of(batch.source), {}, encoding);
  CHECK(encoding.outputs.tape == nullptr);
  CHECK(encoding.last.size() == 2);

  bd::Session session(model.freeze());
  session.restart({"4 5", "6"});
  session.step(std::vector<bd::Index>{0, 0, 1}, std::vector<bd::Token>(3, bd::reserved::bos), 2);
  CHECK(session.attention(2).empty());
  CHECK(session.next(2).size() == 2);

  const bd::Translation t = model.translate("6 7 8", bd::Beam{.width = 3, .max_length = 6});
  REQUIRE_FALSE(t.target.empty());
  CHECK(t.attention.shape(0) == t.target.size());
  CHECK(t.attention.shape(1) == 0);
  CHECK(t.source == std::vector<std::string>{"6", "7", "8", "<eos>"});
  CHECK(message_of([&] { bd::plot::heatmap_svg(t); }) ==
        "heatmap: expected attention to draw, got none; the translation is of a model that does not attend");
  CHECK(message_of([&] { bd::plot::heatmap_text(t, false); }) ==
        "heatmap: expected attention to draw, got none; the translation is of a model that does not attend");

  const std::string refused =
      "replace_unknown: expected a model that attends, got one with the score \"none\"; no word of the "
      "source "
      "stands for an <unk> there";
  CHECK(message_of([&] { model.translate("6", bd::Greedy{.replace_unknown = true}); }) == refused);
  CHECK(message_of([&] { model.translate("6", bd::Beam{.replace_unknown = true}); }) == refused);
  bd::Beam covering;
  covering.coverage_penalty = 0.2;
  CHECK(message_of([&] { model.translate("6", covering); }) ==
        "Beam.coverage_penalty: expected a model that attends, got one with the score \"none\"; there is "
        "nothing to cover otherwise");
  bd::Translator translator(model.freeze());
  CHECK(translator.submit("6 7 8", bd::Beam{.width = 3, .max_length = 6}).get().text == t.text);
  auto future = translator.submit("6", bd::Greedy{.replace_unknown = true});
  CHECK(message_of([&] { future.get(); }) == refused);
}

TEST_CASE("Sutskever's model keeps the laws of all models", "[family]") {
  check_laws<bd::models::Sutskever<B>>();
}

TEST_CASE("Cho's model keeps the laws of all models", "[family]") { check_laws<bd::models::Cho<B>>({}, 1); }

TEST_CASE("plain cells, both directions and a tied tanh readout keep the laws without attention",
          "[family]") {
  using Model = bd::EncoderDecoder<bd::Rnn, bd::NoScore, B, bd::Plain, bd::TanhReadout, bd::Bidirectional>;
  check_laws<Model>({.bridge = bd::Bridge::backward, .tied = true});
  // Nothing of it is for a context.
  const Model model({.embed = 5, .hidden = 6, .layers = 1}, small_vocabularies());
  CHECK(has(model.parameters(), "decoder.readout.token.weight [5, 5]"));
  CHECK(has(model.parameters(), "decoder.rnn.weight_ih_l0 [6, 5]"));
  for (const std::string& name : names_of(model.parameters())) {
    CHECK(name.find("context") == std::string::npos);
    CHECK(name.find("attention") == std::string::npos);
  }
}

TEST_CASE("a fixed context behind a mean bridge goes to a readout of all three", "[family]") {
  using Model =
      bd::EncoderDecoder<bd::Lstm, bd::NoScore, B, bd::FixedContext, bd::ConcatReadout, bd::Bidirectional>;
  check_laws<Model>({.bridge = bd::Bridge::mean});
  const Model model({.embed = 5, .hidden = 6, .layers = 2}, small_vocabularies());
  CHECK(has(model.parameters(), "decoder.rnn.weight_ih_l0 [24, 11]"));
  CHECK(has(model.parameters(), "decoder.dense.weight [10, 17]"));
}
