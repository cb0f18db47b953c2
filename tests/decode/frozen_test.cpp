// Frozen models: what they keep, that they give the numbers of the model they were made from, and that
// nothing changes them.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <bahdanau/bahdanau.hpp>

#include "support/backends.hpp"
#include "support/catch.hpp"
#include "support/message.hpp"
#include "support/sequences.hpp"
#include "support/temporary_directory.hpp"

namespace {

namespace bd = bahdanau;
using bd::test::numbered;

template <class T>
using B = bd::test::TestBackend<T>;
using D2l = bd::EncoderDecoder<bd::Gru, bd::Additive, B<float>>;
using Feeding = bd::EncoderDecoder<bd::Lstm, bd::General, B<float>, bd::Bidirectional, bd::InputFeeding>;
using Deep =
    bd::EncoderDecoder<bd::GruResetBefore, bd::Additive, B<float>, bd::Bidirectional, bd::DeepOutput<6>>;
using Tied = bd::EncoderDecoder<bd::Gru, bd::ScaledDot, B<double>, bd::TanhReadout, bd::StepThenAttend>;

const std::vector<std::string> sentences{"4 5 6", "7", "8 4 4 5 9 6 7", "9 9"};

bd::Config config_of(bool tied = false) {
  return {.embed = 12, .hidden = 20, .layers = 2, .dropout = 0, .tied = tied};
}

bool equal(const bd::Translation& a, const bd::Translation& b) {
  return a.text == b.text && a.target == b.target && a.score == b.score && a.log_probs == b.log_probs &&
         a.attention == b.attention;
}

template <class Model, class Other>
void check_equal(const Model& a, const Other& b) {
  const bd::Greedy greedy{.max_length = 8};
  const bd::Beam beam{.width = 4, .max_length = 8};
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    CHECK(equal(a.translate(sentences, greedy)[i], b.translate(sentences, greedy)[i]));
    CHECK(equal(a.translate(sentences[i], beam), b.translate(sentences[i], beam)));
  }
}

}  // namespace

TEMPLATE_TEST_CASE("a frozen model gives its model's numbers, from memory and from a file", "[frozen]", D2l,
                   Feeding, Deep, Tied) {
  const bd::test::TemporaryDirectory folder;
  const auto path = folder.path() / "m.safetensors";
  std::optional<TestType> model(std::in_place, config_of(std::is_same_v<TestType, Tied>), numbered(30, 37, 9),
                                3);
  model->save(path);
  const auto frozen = model->freeze();
  check_equal(*model, frozen);
  const auto loaded = bd::Frozen<TestType>::load(path);
  check_equal(*model, loaded);
  // Training's loss reads the weights as they lie, and agrees.
  const bd::Batch batch{bd::test::random_sequences(5, 6, 30, 1), bd::test::random_sequences(5, 7, 37, 2)};
  const auto forward = [&](const auto& m) {
    const bd::Array<double, 2> each = log_probabilities(m.forward(batch).logits, batch.target);
    double total = 0;
    for (const double log_prob : each) total -= log_prob;
    return total;
  };
  bd::Training<TestType> training(*model);
  const double nats = training.evaluate(batch).nats;
  CHECK(forward(frozen) ==
        Approx(nats).epsilon(std::is_same_v<typename TestType::Scalar, float> ? 1e-5 : 1e-12));
  CHECK(forward(loaded) == forward(frozen));
  // Whatever becomes of the model, the frozen one stays.
  const bd::Translation before = frozen.translate(sentences[2], bd::Greedy{.max_length = 8});
  model->weights().change([](auto numbers) {
    for (auto& number : numbers) number = -number;
  });
  CHECK_FALSE(equal(model->translate(sentences[2], bd::Greedy{.max_length = 8}), before));
  model.reset();
  const auto copy = frozen;
  CHECK(equal(copy.translate(sentences[2], bd::Greedy{.max_length = 8}), before));
}

TEST_CASE("a frozen model has its weights once", "[frozen]") {
  // Vocabularies and widths of a model that people use: panels are filled up to whole ones.
  const bd::EncoderDecoder<bd::Gru, bd::Additive, B<float>> model(
      {.embed = 96, .hidden = 144, .layers = 2, .dropout = 0}, numbered(1500, 1700, 9), 1);
  const double weights = static_cast<double>(model.parameters().count() * sizeof(float));
  const auto bytes = static_cast<double>(model.freeze().bytes());
  CHECK(bytes >= weights);
  CHECK(bytes <= 1.05 * weights);
}

TEST_CASE("a parameter that only products were seen with can still be read as it lies", "[frozen]") {
  // 13 columns in two blocks, and 19 rows: panels that are not full.
  using Backend = B<float>;
  bd::ParameterList list;
  bd::Scope scope(list);
  const bd::Parameter w = scope.matrix("w", 19, 13), v = scope.matrix("v", 7, 5);
  bd::ParameterBlock<Backend> block(list);
  block.initialize(list, 1);
  const float* numbers = bd::detail::numbers(block);
  bd::WeightTrace<Backend> trace(numbers);
  trace.multiply({numbers + w.offset, 4, 19, 13, bd::Transpose::yes});
  trace.multiply({numbers + w.offset + 4, 9, 19, 13, bd::Transpose::yes});
  const std::vector<bd::Parameter> parameters{w, v};
  bd::FrozenWeights<Backend> frozen(parameters, trace);
  for (const auto& piece : frozen.pieces()) frozen.fill(piece, numbers + frozen.offset(piece));
  for (const bd::Parameter& p : parameters) {
    const std::vector<float> expected = block.read(p);
    std::vector<float> plain(expected.size());
    Backend::download(frozen.plain(p), plain.size(), plain.data());
    CHECK(plain == expected);
  }
  // Products find the same forms by the addresses of both, and others none.
  if (!bd::detail::PackedProducts<Backend>::packs()) return;
  const float *handle = frozen.handle(w), *plain = frozen.plain(w);
  CHECK(handle != plain);
  const auto form = [&](const float* data, std::size_t k) {
    return frozen.packed({data, k, 19, 13, bd::Transpose::yes});
  };
  CHECK(form(handle, 4) != nullptr);
  CHECK(form(handle, 4) == form(plain, 4));
  CHECK(form(handle + 4, 9) == form(plain + 4, 9));
  CHECK(form(handle + 4, 9) != form(handle, 4));
  CHECK(form(handle, 5) == nullptr);
  CHECK(frozen.readable({handle + 4, 3, 19, 13, bd::Transpose::yes}).data == plain + 4);
}

namespace {

/// A weight of another shape than it is declared with, in products and as it lies, and blocks that overlap.
struct Reshaping {
  static constexpr std::string_view name = "reshaping";
  static constexpr bool needs_equal_widths = true;
  struct Weights {
    bd::Parameter wide, vector, blocks;
    std::size_t width;
  };
  static Weights declare(bd::Scope scope, bd::ScoreWidths widths) {
    const std::size_t h = widths.query;
    return {scope.matrix("wide", h / 2, 2 * h), scope.bias("vector", h * h, h), scope.matrix("blocks", h, h),
            h};
  }
  template <bd::Backend Bk>
  static bd::Variable<Bk> prepare(const Weights& w, const bd::Variable<Bk>& keys) {
    bd::Tape<Bk>& tape = *keys.tape;
    const std::size_t h = w.width, half = h / 2, rows = keys.rows();
    const auto left = slice_columns(keys, 0, half), right = slice_columns(keys, half / 2, half);
    auto sum = linear(keys, tape[w.wide].reshape({h, h})) + linear(keys, tape[w.vector].reshape({h, h})) +
               linear_columns(left, tape[w.blocks], 0) + linear_columns(right, tape[w.blocks], half / 2);
    // What a short sentence does not show.
    if (rows > 6) sum = sum + linear(keys, w.blocks);
    return sum;
  }
  template <bd::Backend Bk>
  static bd::Variable<Bk> scores(const Weights&, const bd::Variable<Bk>& query,
                                 const bd::Variable<Bk>& prepared, const bd::SpanView<Bk>& spans) {
    return span_dot(query, prepared, spans, typename Bk::Scalar(1));
  }
};

}  // namespace

TEST_CASE("weights that are multiplied in other shapes than they have are frozen rightly", "[frozen]") {
  using Model = bd::EncoderDecoder<bd::Gru, Reshaping, B<double>>;
  const std::size_t hidden = GENERATE(as<std::size_t>{}, 24, 64, 400);  // the last in several pieces
  const bd::test::TemporaryDirectory folder;
  Model model({.embed = 6, .hidden = hidden, .layers = 1, .dropout = 0}, numbered(12, 11, 9), 3);
  model.save(folder.path() / "m");
  const bd::Batch batch{bd::test::random_sequences(2, 6, 12, 1), bd::test::random_sequences(2, 5, 11, 2)};
  bd::Training<Model> training(model);
  const double nats = training.evaluate(batch).nats;
  const auto loaded = bd::Frozen<Model>::load(folder.path() / "m");
  for (const auto& frozen : {model.freeze(), loaded}) {
    double total = 0;
    for (const double log_prob : log_probabilities(frozen.forward(batch).logits, batch.target))
      total -= log_prob;
    CHECK(total == Approx(nats).epsilon(1e-12));
  }
}

TEST_CASE("threads share one frozen model, and each gets what it would get alone", "[frozen][threads]") {
  const D2l model(config_of(), numbered(30, 37, 9), 5);
  const auto frozen = model.freeze();
  std::vector<bd::Translation> expected;
  for (const std::string& sentence : sentences)
    expected.push_back(frozen.translate(sentence, bd::Beam{.max_length = 8}));
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (std::size_t t = 0; t < wrong.size(); ++t)
    threads.emplace_back([&, t, mine = frozen] {
      for (std::size_t round = 0; round < 20; ++round) {
        const std::size_t i = (t + round) % sentences.size();
        wrong[t] += !equal(mine.translate(sentences[i], bd::Beam{.max_length = 8}), expected[i]);
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::vector<int>(4, 0));
}

TEST_CASE("a search of one's own finds what the built-in ones find", "[session]") {
  const D2l model(config_of(), numbered(30, 37, 9), 7);
  const auto frozen = model.freeze();
  bd::Session session(frozen, bd::Continuation::one_by_one);
  const std::size_t count = GENERATE(as<std::size_t>{}, 0, 1, 3);  // 0: ln p of all tokens
  for (const std::string& sentence : sentences) {
    session.restart({sentence});
    const bd::Translation expected = frozen.translate(sentence, bd::Greedy{.max_length = 8});
    std::vector<bd::Index> parents{0};
    std::vector<bd::Token> tokens{bd::reserved::bos};
    double score = 0;
    for (std::size_t t = 0; t < expected.target.size(); ++t) {
      session.step(parents, tokens, count);
      const auto log_probs = session.log_probs(0);
      const auto best =
          static_cast<std::size_t>(std::max_element(log_probs.begin(), log_probs.end()) - log_probs.begin());
      tokens[0] = count == 0 ? static_cast<bd::Token>(best) : session.next(0)[0];
      score += static_cast<double>(log_probs[best]);
      CHECK(frozen.vocabularies().target.token(tokens[0]) == expected.target[t]);
      CHECK(session.attention(0)[0] == expected.attention(t, 0));
      if (count == 0) {
        double total = 0;
        for (const float log_prob : log_probs) total += std::exp(static_cast<double>(log_prob));
        CHECK(total == Approx(1).epsilon(1e-5));
      }
    }
    CHECK(score == Approx(expected.score).epsilon(1e-6));
  }
}

TEST_CASE("rows of a session branch, and each has a state of its own", "[session]") {
  const Feeding model(config_of(), numbered(30, 37, 9), 9);
  bd::Session session(model.freeze());
  session.restart({"4 5 6", "7 8"});
  CHECK(session.rows() == 2);
  session.step(std::vector<bd::Index>{1, 0}, std::vector<bd::Token>{2, 2}, 2);
  CHECK(session.sentence(0) == 1);
  CHECK(session.attention(0).size() == 3);  // "7 8 <eos>"
  CHECK(session.attention(1).size() == 4);
  const std::vector<bd::Token> first{session.next(1)[0], session.next(1)[1], session.next(0)[0]};
  session.step(std::vector<bd::Index>{1, 1, 0}, first, 0);
  std::vector<float> branched(session.log_probs(1).begin(), session.log_probs(1).end());
  // The same hypothesis alone.
  bd::Session alone(model.freeze());
  alone.restart({"4 5 6"});
  alone.step(std::vector<bd::Index>{0}, std::vector<bd::Token>{2}, 1);
  alone.step(std::vector<bd::Index>{0}, std::vector<bd::Token>{first[1]}, 0);
  for (std::size_t v = 0; v < branched.size(); ++v)
    CHECK(branched[v] == Approx(alone.log_probs(0)[v]).margin(1e-5));
}

TEST_CASE("a session refuses what is not there, and goes on", "[session][error]") {
  using bd::test::message_of;
  const D2l model(config_of(), numbered(30, 37, 9), 7);
  bd::Session session(model.freeze(), bd::Continuation::one_by_one);
  const std::vector<bd::Index> first{0}, second{1}, twice{0, 0};
  const std::vector<bd::Token> bos{bd::reserved::bos}, beyond{37}, two{2, 2};
  CHECK(message_of([&] { session.step(first, bos, 1); }) ==
        "Session::step: expected a restart() before it, got none");
  session.restart({"4 5"});
  CHECK(message_of([&] { session.next(0); }) == "Session: expected a step() before it, got none");
  CHECK(message_of([&] { session.step(second, bos, 1); }) ==
        "Session::step: expected parents from 0 to 0, got 1");
  CHECK(message_of([&] { session.step(first, beyond, 1); }) ==
        "Session::step: expected tokens from 0 to 36, got 37");
  CHECK(message_of([&] { session.step(first, bos, 38); }) ==
        "Session::step: expected at most 37 best tokens, got 38");
  CHECK(message_of([&] { session.step(first, two, 1); }) ==
        "Session::step: expected tokens, one per row: 1, got 2");
  CHECK(message_of([&] { session.step(twice, two, 1); }) ==
        "Session::step: expected rows that are continued once, got 0 twice; make a Session with "
        "Continuation::branching");
  CHECK_THROWS_AS(session.restart({"4 \xff"}), bd::Error);
  CHECK(session.rows() == 0);  // of the sentences before, too
  session.restart({"4 5"});
  session.step(first, bos, 1);
  CHECK(session.rows() == 1);
  CHECK(message_of([&] { session.log_probs(1); }) == "Session: expected a row below 1, got 1");
  bd::Session moved = std::move(session);
  CHECK(moved.rows() == 1);
  CHECK(message_of([&] { session.restart({"4"}); }) ==
        "Session::restart: expected a session, got one that was moved from");
}

TEST_CASE("a session keeps to its limits, and goes on", "[session][limits]") {
  using bd::test::message_of;
  const D2l model(config_of(), numbered(30, 37, 9), 7);
  const auto frozen = model.freeze();
  const std::vector<bd::Index> one{0}, two{0, 0}, three{0, 0, 0};
  const std::vector<bd::Token> bos(3, bd::reserved::bos);
  const auto tokens = [&](std::size_t n) { return std::span(bos).first(n); };
  bd::Session session(frozen, bd::Continuation::branching,
                      {.sentences = 2, .source_tokens = 4, .target_tokens = 2, .beam = 2});
  CHECK(message_of([&] {
          session.restart({"4", "5", "6"});
        }) == "translate, sentence 2: expected at most 2 sentences in a call, got 3; see Limits.sentences");
  CHECK(message_of([&] {
          session.restart({"4", "5 6 7 8"});
        }) ==
        "translate, sentence 1: expected a source of at most 4 tokens with its <eos>, got 5; see "
        "Limits.source_tokens");
  CHECK(message_of([&] { session.step(one, tokens(1), 1); }) ==
        "Session::step: expected a restart() before it, got none");
  session.restart({"4", "5 6"});
  CHECK(message_of([&] { session.step(three, tokens(3), 1); }) ==
        "translate, sentence 0: expected at most 2 rows of it, got one more; see Limits.beam");
  session.step(two, tokens(2), 1);
  session.step(one, tokens(1), 1);
  CHECK(message_of([&] { session.step(one, tokens(1), 1); }) ==
        "translate, sentence 0: expected at most 2 steps, got one more; see Limits.target_tokens");
  session.restart({"4"});
  session.step(one, tokens(1), 1);
  bd::Session small(frozen, bd::Continuation::branching, {.memory = std::size_t{1} << 20U});
  CHECK(message_of([&] { small.restart({"4"}); }).find("see Limits.memory") != std::string::npos);
  bd::Session late(frozen, bd::Continuation::branching,
                   {.deadline = std::chrono::steady_clock::time_point()});
  CHECK(message_of([&] { late.restart({"4"}); }).find("see Limits.deadline") != std::string::npos);
}
