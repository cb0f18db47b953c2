#include <bahdanau/bahdanau.hpp>

#include "support/backends.hpp"
#include "support/catch.hpp"
#include "support/message.hpp"
#include "support/sequences.hpp"

namespace bd = bahdanau;
using namespace bd::test;
using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, bd::test::TestBackend<float>>;

namespace {

Model small(bd::FinalState rule = bd::FinalState::valid) {
  return Model({.embed = 3, .hidden = 4, .layers = 1, .final_state = rule}, numbered(9, 11, 5));
}

bd::Sequences rows(std::vector<std::vector<bd::Token>> ids) { return bd::Sequences::from_rows(ids); }

}  // namespace

TEST_CASE("a token outside of the vocabulary is named with its row and position", "[model][error]") {
  const Model model = small();
  CHECK(message_of([&] {
          model.encode(rows({{4, 3}, {4, 9, 3}}));
        }) == "encode, row 1, position 1: expected a token id from 0 to 8, got 9");
  CHECK(message_of([&] {
          model.encode(rows({{-1, 3}}));
        }) == "encode, row 0, position 0: expected a token id from 0 to 8, got -1");
  auto state = model.init_state(model.encode(rows({{4, 3}})));
  CHECK(message_of([&] {
          model.decode(rows({{2, 11}}), state);
        }) == "decode, row 0, position 1: expected a token id from 0 to 10, got 11");
  const std::vector<bd::Token> tokens{11};
  CHECK(message_of([&] { model.step(tokens, state); }) == "step: expected a token id from 0 to 10, got 11");
}

TEST_CASE("a valid length of 0 or beyond the row is refused", "[model][error]") {
  const Model model = small();
  bd::Sequences source = rows({{4, 5, 3}, {4, 3}});
  source.lengths[1] = 0;
  CHECK(message_of([&] { model.encode(source); }) ==
        "encode, row 1: expected a valid length from 1 to 3, got 0");
  source.lengths[1] = 4;
  CHECK(message_of([&] { model.encode(source); }) ==
        "encode, row 1: expected a valid length from 1 to 3, got 4");
  source.lengths.pop_back();
  CHECK(message_of([&] { model.encode(source); }) == "encode: expected valid lengths, one per row: 2, got 1");
  CHECK(message_of([&] { model.encode(rows({})); }) == "encode: expected at least one sentence, got none");
}

TEST_CASE("a batch with different numbers of rows is refused", "[model][error]") {
  const Model model = small();
  const bd::Batch batch{rows({{4, 3}, {5, 3}}), rows({{4, 3}})};
  const std::string expected = "batch: expected target rows, one per source row: 2, got 1";
  CHECK(message_of([&] { model.forward(batch); }) == expected);
  Model trained = small();
  bd::Training training(trained);
  CHECK(message_of([&] { training.loss(batch); }) == expected);
  auto state = model.init_state(model.encode(batch.source));
  CHECK(message_of([&] { model.decode(batch.target, state); }) ==
        "decode: expected rows, one per sentence: 2, got 1");
  const std::vector<bd::Token> tokens{2};
  CHECK(message_of([&] { model.step(tokens, state); }) ==
        "step: expected tokens, one per sentence: 2, got 1");
}

TEST_CASE("under the padded rule a source beyond max_length is refused", "[model][error]") {
  CHECK(message_of([&] {
          small(bd::FinalState::padded).encode(rows({{4, 3}, {4, 5, 6, 7, 8, 3}}));
        }) ==
        "encode, row 1: expected a source of at most max_length = 5 tokens, got 6; this model was made with "
        "final_state 'padded'");
  CHECK_NOTHROW(small().encode(rows({{4, 5, 6, 7, 8, 3}})));
}

TEST_CASE("sizes of 0 and impossible dropout are refused", "[model][error]") {
  const auto build = [](bd::Config config) { return [config] { Model(config, numbered(9, 11, 5)); }; };
  CHECK(message_of(build({.embed = 0})) == "Config.embed: expected at least 1, got 0");
  CHECK(message_of(build({.hidden = 0})) == "Config.hidden: expected at least 1, got 0");
  CHECK(message_of(build({.embed = std::size_t{1} << 62U})) ==
        "Config.embed: expected at most 16777216, got 4611686018427387904");
  CHECK(message_of(build({.layers = 0})) == "Config.layers: expected at least 1, got 0");
  CHECK(message_of(build({.dropout = 1.0F})) ==
        "Config.dropout: expected a probability from 0 up to, not including, 1, got 1");
  CHECK(message_of([] { Model({}, numbered(9, 11, 65537)); }) ==
        "EncoderDecoder: expected a max_length from 1 to 65536, got 65537; without one, or with 0, nothing "
        "is cut");
}

TEST_CASE("the padded rule asks for a max_length, the other does not", "[model][error]") {
  CHECK(message_of([] { Model({.final_state = bd::FinalState::padded}, numbered(9, 11, 0)); }) ==
        "EncoderDecoder: expected a max_length for final_state 'padded', which steps over <pad> up to it, "
        "got none; "
        "give the corpus a max_length, or use final_state 'valid'");
  CHECK_NOTHROW(Model({.final_state = bd::FinalState::valid}, numbered(9, 11, 0)));
}

TEST_CASE("attention alone refuses what does not fit", "[attention][error]") {
  const bd::Attention<bd::Additive, bd::test::TestBackend<float>> attention(
      {.query = 5, .key = 6, .hidden = 8});
  const auto array = [](std::size_t a, std::size_t b, std::size_t c) {
    bd::Array<float, 3> out = bd::Array<float, 3>::from_shape({a, b, c});
    std::fill(out.begin(), out.end(), 0.5F);
    return out;
  };
  const std::vector<bd::Index> two{3, 1};
  const auto keys = array(2, 3, 6), values = array(2, 3, 4);
  CHECK(message_of([&] { attention(array(2, 1, 4), keys, values, two); }) ==
        "Attention: expected queries of width 5, got 4");
  CHECK(message_of([&] { attention(array(2, 1, 5), array(2, 3, 5), values, two); }) ==
        "Attention: expected keys of width 6, got 5");
  CHECK(message_of([&] { attention(array(2, 1, 5), keys, array(2, 2, 4), two); }) ==
        "Attention: expected values, one per key: 3, got 2");
  const std::vector<bd::Index> beyond{3, 4}, zero{3, 0}, one{3};
  CHECK(message_of([&] { attention(array(2, 1, 5), keys, values, beyond); }) ==
        "Attention, sentence 1: expected a valid length from 1 to 3, got 4");
  CHECK(message_of([&] { attention(array(2, 1, 5), keys, values, zero); }) ==
        "Attention, sentence 1: expected a valid length from 1 to 3, got 0");
  CHECK(message_of([&] { attention(array(2, 1, 5), keys, values, one); }) ==
        "Attention: expected valid lengths, one per sentence: 2, got 1");
  CHECK(message_of(
            [] { bd::Attention<bd::ScaledDot, bd::test::TestBackend<float>>({.query = 5, .key = 6}); }) ==
        "ScaledDot: expected keys of width 5, got 6; use General or Additive for queries and keys of "
        "different widths");
}

TEST_CASE("a state of a model of other sizes is refused", "[model][error]") {
  const auto sized = [](std::size_t hidden, std::size_t layers) {
    return Model({.embed = 8, .hidden = hidden, .layers = layers}, numbered(9, 11, 5));
  };
  const Model two = sized(16, 2), three = sized(16, 3), wide = sized(20, 2);
  const bd::Sequences source = rows({{4, 5, 3}, {4, 3}});
  const std::string hint = "; encode and decode with one model";
  CHECK(message_of([&] { three.init_state(two.encode(source)); }) ==
        "init_state: expected a state of 3 layers of 16, got 2 layers of 16" + hint);
  CHECK(message_of([&] { two.init_state(three.encode(source)); }) ==
        "init_state: expected a state of 2 layers of 16, got 3 layers of 16" + hint);
  CHECK(message_of([&] { sized(16, 1).init_state(wide.encode(source)); }) ==
        "init_state: expected a state of 1 layer of 16, got 2 layers of 20" + hint);
  auto state = two.init_state(two.encode(source));
  const std::vector<bd::Token> tokens{2, 2};
  CHECK(message_of([&] { three.step(tokens, state); }) ==
        "step: expected a state of 3 layers of 16, got 2 layers of 16" + hint);
  CHECK(message_of([&] {
          wide.decode(rows({{2, 4}, {2, 5}}), state);
        }) == "decode: expected a state of 2 layers of 20, got 2 layers of 16" + hint);
  CHECK_NOTHROW(two.step(tokens, state));
}

TEST_CASE("a state of a model with another encoder or score is refused", "[model][error]") {
  const bd::Config config{.embed = 3, .hidden = 4, .layers = 1};
  const bd::EncoderDecoder<bd::Gru, bd::Additive, bd::test::TestBackend<float>, bd::Bidirectional> both(
      config, numbered(9, 11, 5));
  const bd::EncoderDecoder<bd::Gru, bd::ScaledDot, bd::test::TestBackend<float>> dot(config,
                                                                                     numbered(9, 11, 5));
  const Model model = small();
  const bd::Sequences source = rows({{4, 5, 3}});
  CHECK(message_of([&] { model.init_state(both.encode(source)); }) ==
        "init_state: expected keys of width 4, got 8; encode and decode with one model");
  CHECK(
      message_of([&] { model.init_state(dot.encode(source)); }) ==
      "init_state: expected keys for the score \"additive\", got \"scaled_dot\"; encode and decode with one "
      "model");
}
