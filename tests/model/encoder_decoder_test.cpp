#include <bahdanau/bahdanau.hpp>

#include "support/backends.hpp"
#include "support/catch.hpp"
#include "support/sequences.hpp"

namespace bd = bahdanau;
using namespace bd::test;

namespace {

template <class Backend>
using D2lModel = bd::EncoderDecoder<bd::Gru, bd::Additive, Backend>;

bd::Sequences zeros(std::size_t rows, std::size_t width) {
  auto ids = bd::Array<bd::Token, 2>::from_shape({rows, width});
  std::fill(ids.begin(), ids.end(), 0);
  return bd::Sequences(ids);
}

template <class A>
std::vector<std::size_t> shape(const A& array) {
  return {array.shape().begin(), array.shape().end()};
}

template <class A, class B>
double largest_difference(const A& a, const B& b) {
  REQUIRE(a.size() == b.size());
  double largest = 0;
  auto at = b.begin();
  for (const auto x : a)
    largest = std::max(largest, std::abs(static_cast<double>(x) - static_cast<double>(*at++)));
  return largest;
}

}  // namespace

static_assert(bd::AttentionDecoder<D2lModel<bd::test::TestBackend<float>>>);

TEMPLATE_TEST_CASE("the shapes are those of d2l's check", "[model]", TEST_BACKENDS) {
  D2lModel<TestType> model({.embed = 8, .hidden = 16, .layers = 2}, numbered(10, 10, 7));
  auto state = model.init_state(model.encode(zeros(4, 7)));
  const auto out = model.decode(zeros(4, 7), state);
  CHECK(shape(out.logits) == std::vector<std::size_t>{4, 7, 10});
  CHECK(shape(out.attention) == std::vector<std::size_t>{4, 7, 7});
  static_assert(std::tuple_size_v<decltype(state)> == 3);
  const auto [outputs, hidden, lengths] = state;
  CHECK(shape(outputs) == std::vector<std::size_t>{4, 7, 16});
  REQUIRE(hidden.size() == 2);
  CHECK(shape(hidden[0]) == std::vector<std::size_t>{4, 16});
  CHECK(shape(hidden[1]) == std::vector<std::size_t>{4, 16});
  CHECK(lengths == std::vector<bd::Index>{7, 7, 7, 7});
}

TEMPLATE_TEST_CASE("stepping gives what a teacher-forced pass gives", "[model][step]", TEST_BACKENDS) {
  using Scalar = typename TestType::Scalar;
  bd::EncoderDecoder<bd::Lstm, bd::ScaledDot, TestType> model({.embed = 5, .hidden = 6, .layers = 2},
                                                              numbered(9, 11, 6), 3);
  const bd::Sequences source = random_sequences(5, 6, 9, 1);
  const bd::Sequences inputs(random_sequences(5, 4, 11, 2).tokens);  // full rows
  auto forced = model.init_state(model.encode(source));
  const auto expected = model.decode(inputs, forced);
  auto stepped = model.init_state(model.encode(source));
  for (std::size_t t = 0; t < inputs.width(); ++t) {
    std::vector<bd::Token> tokens;
    for (std::size_t r = 0; r < inputs.rows(); ++r) tokens.push_back(inputs.tokens(r, t));
    const bd::Array<Scalar, 2> logits = model.step(tokens, stepped);
    for (std::size_t r = 0; r < inputs.rows(); ++r)
      for (std::size_t v = 0; v < 11; ++v)
        CHECK(static_cast<double>(logits(r, v)) ==
              Approx(static_cast<double>(expected.logits(r, t, v))).margin(1e-5));
  }
  REQUIRE(model.attention_weights(stepped).size() == inputs.width());
  for (std::size_t t = 0; t < inputs.width(); ++t)
    CHECK(largest_difference(model.attention_weights(stepped)[t], model.attention_weights(forced)[t]) < 1e-5);
  for (std::size_t part : {0U, 1U})
    for (std::size_t l = 0; l < 2; ++l)
      CHECK(largest_difference(stepped.hidden(part)[l], forced.hidden(part)[l]) < 1e-5);
}

TEMPLATE_TEST_CASE("a teacher-forced state stands at each row's own end", "[model][ragged]", TEST_BACKENDS) {
  D2lModel<TestType> model({.embed = 5, .hidden = 6, .layers = 2}, numbered(9, 11, 6), 3);
  const bd::Sequences source = random_sequences(4, 6, 9, 5);
  const bd::Sequences inputs = random_sequences(4, 5, 11, 6);
  auto together = model.init_state(model.encode(source));
  model.decode(inputs, together);
  for (std::size_t r = 0; r < inputs.rows(); ++r) {
    const auto row = [r](const bd::Sequences& s) {
      const auto length = static_cast<std::size_t>(s.lengths[r]);
      const std::vector<std::vector<bd::Token>> one{
          {s.tokens.data() + r * s.width(), s.tokens.data() + r * s.width() + length}};
      return bd::Sequences::from_rows(one);
    };
    auto alone = model.init_state(model.encode(row(source)));
    model.decode(row(inputs), alone);
    for (std::size_t l = 0; l < 2; ++l)
      for (std::size_t h = 0; h < 6; ++h)
        CHECK(static_cast<double>(alone.hidden()[l](0, h)) ==
              Approx(static_cast<double>(together.hidden()[l](r, h))).margin(1e-5));
  }
}

TEMPLATE_TEST_CASE("a sentence gets the same logits alone and in any batch", "[model][ragged]",
                   TEST_BACKENDS) {
  bd::EncoderDecoder<bd::Gru, bd::Additive, TestType, bd::Bidirectional> model(
      {.embed = 7, .hidden = 9, .layers = 2}, numbered(20, 23, 8), 1);
  const bd::Batch batch{random_sequences(12, 8, 20, 1), random_sequences(12, 7, 23, 2)};
  const auto together = model.forward(batch);
  for (std::size_t r = 0; r < 12; ++r) {
    const std::size_t s = static_cast<std::size_t>(batch.source.lengths[r]);
    const std::size_t t = static_cast<std::size_t>(batch.target.lengths[r]);
    const std::vector<std::vector<bd::Token>> source{
        {batch.source.tokens.data() + r * batch.source.width(),
         batch.source.tokens.data() + r * batch.source.width() + s}};
    const std::vector<std::vector<bd::Token>> target{
        {batch.target.tokens.data() + r * batch.target.width(),
         batch.target.tokens.data() + r * batch.target.width() + t}};
    const auto alone = model.forward({bd::Sequences::from_rows(source), bd::Sequences::from_rows(target)});
    for (std::size_t step = 0; step < t; ++step) {
      for (std::size_t v = 0; v < 23; ++v)
        CHECK(static_cast<double>(alone.logits(0, step, v)) ==
              Approx(static_cast<double>(together.logits(r, step, v))).margin(1e-5));
      double total = 0;
      for (std::size_t k = 0; k < batch.source.width(); ++k) {
        const double weight = static_cast<double>(together.attention(r, step, k));
        total += weight;
        if (k >= s) CHECK(weight == 0.0);
      }
      CHECK(total == Approx(1.0).margin(1e-5));
    }
  }
}

TEMPLATE_TEST_CASE("what lies beyond a valid length is never looked at", "[model][mask]", TEST_BACKENDS) {
  D2lModel<TestType> model({.embed = 5, .hidden = 6, .layers = 2}, numbered(9, 11, 6), 3);
  bd::Batch batch{random_sequences(6, 6, 9, 1), random_sequences(6, 6, 11, 2)};
  const auto before = model.forward(batch);
  for (auto* side : {&batch.source, &batch.target})
    for (std::size_t r = 0; r < side->rows(); ++r)
      for (auto t = static_cast<std::size_t>(side->lengths[r]); t < side->width(); ++t)
        side->tokens(r, t) = -77;
  const auto after = model.forward(batch);
  CHECK(largest_difference(before.logits, after.logits) == 0);
  CHECK(largest_difference(before.attention, after.attention) == 0);
}

TEST_CASE("a seed decides the weights and one more layer changes no other", "[model][seed]") {
  using Model = D2lModel<bd::test::TestBackend<float>>;
  const Model a({.layers = 2}, numbered(9, 11, 6), 7), same({.layers = 2}, numbered(9, 11, 6), 7),
      deeper({.layers = 3}, numbered(9, 11, 6), 7), other({.layers = 2}, numbered(9, 11, 6), 8);
  for (const auto& entry : a.parameters().entries()) {
    INFO(entry.name);
    CHECK(a.weights().read(entry.parameter) == same.weights().read(entry.parameter));
    CHECK(a.weights().read(entry.parameter) != other.weights().read(entry.parameter));
    for (const auto& wider : deeper.parameters().entries())
      if (wider.name == entry.name)
        CHECK(a.weights().read(entry.parameter) == deeper.weights().read(wider.parameter));
  }
}

TEST_CASE("first weights have the spread that the design asks for", "[model][seed]") {
  const D2lModel<bd::test::TestBackend<double>> model({.embed = 40, .hidden = 50, .layers = 1},
                                                      numbered(60, 70, 6), 7);
  const auto largest = [&](const std::string& name) {
    for (const auto& entry : model.parameters().entries())
      if (entry.name == name) {
        double most = 0;
        for (const double w : model.weights().read(entry.parameter)) most = std::max(most, std::abs(w));
        return most;
      }
    FAIL("no parameter " << name);
    return 0.0;
  };
  const auto just_below = [&](const std::string& name, double bound) {
    INFO(name);
    CHECK(largest(name) <= bound);
    CHECK(largest(name) > 0.9 * bound);
  };
  just_below("encoder.rnn.weight_ih_l0", std::sqrt(6.0 / (150 + 40)));  // fans of the whole stacked matrix
  just_below("decoder.rnn.weight_ih_l0", std::sqrt(6.0 / (150 + 90)));
  just_below("decoder.dense.weight", std::sqrt(6.0 / (70 + 50)));
  just_below("encoder.rnn.bias_hh_l0", 1 / std::sqrt(50.0));
  just_below("decoder.dense.bias", 1 / std::sqrt(50.0));
  CHECK(largest("encoder.embedding.weight") > 2.5);  // normal: 2400 draws reach beyond 2.5
  CHECK(largest("encoder.embedding.weight") < 6);
}

TEST_CASE("under the padded rule every position has a dropout mask of its own", "[model][dropout]") {
  const D2lModel<bd::test::TestBackend<float>> model(
      {.embed = 4, .hidden = 5, .layers = 2, .dropout = 0.5F, .final_state = bd::FinalState::padded},
      numbered(9, 9, 7));
  const bd::Sequences source = random_sequences(6, 3, 9, 1);  // rows narrower than max_length
  const auto frozen = model.frozen_model();
  bd::Tape<bd::test::TestBackend<float>> tape(frozen->binding());
  bd::detail::Encoding<bd::Gru, bd::test::TestBackend<float>> encoding;
  const bd::DropoutPlan plan{0.5, bd::random::Key{1}};
  model.encoder_network().run(tape, model.encoder_input(bd::detail::SequenceRows::of(source), plan),
                              encoding);
  std::vector<bd::Index> names = encoding.names;
  REQUIRE(names.size() == 6 * 7);
  std::sort(names.begin(), names.end());
  CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
}
