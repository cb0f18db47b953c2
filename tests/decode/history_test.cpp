// What a search can tell of itself: runners-up and the beam's history. Asking changes no bit of a
// translation.
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <bahdanau/bahdanau.hpp>

#include "support/backends.hpp"
#include "support/catch.hpp"
#include "support/sequences.hpp"

namespace bd = bahdanau;
using namespace bd::test;
using Catch::Matchers::Message;

namespace {

using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, TestBackend<float>>;

/// A model over the words "4" to "11" with opinions.
Model toy(std::uint64_t seed) {
  bd::Vocabularies v = numbered(12, 12, 6);
  v.text.tokens = bd::Tokens::none;
  Model model({.embed = 6, .hidden = 8, .layers = 1}, v, seed);
  for (const auto& entry : model.parameters().entries()) {
    auto numbers = model.weights().read(entry.parameter);
    for (auto& number : numbers) number *= 2;
    model.weights().write(entry.parameter, numbers);
  }
  return model;
}

const std::vector<std::string> sentences{"4 5 6", "7", "8 9 10 11 4 5", "6 6 6"};

void check_same(const bd::Translation& a, const bd::Translation& b) {
  CHECK(a.target == b.target);
  CHECK(a.score == b.score);
  CHECK(a.log_probs == b.log_probs);
  CHECK(a.attention == b.attention);
}

/// The tokens of a hypothesis, from the first on.
std::vector<std::string> tokens_of(const bd::SearchHistory& history, std::size_t step, std::size_t place) {
  std::vector<std::string> out;
  for (std::size_t t = step + 1; t-- > 0;) {
    out.insert(out.begin(), history.steps[t][place].token);
    place = history.steps[t][place].parent;
  }
  return out;
}

}  // namespace

TEST_CASE("to ask a search what it saw changes no bit of what it found", "[decode][history]") {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const Model model = toy(seed);
    const auto greedy = model.translate(sentences),
               told = model.translate(sentences, bd::Greedy{.runners_up = 4});
    for (std::size_t i = 0; i < sentences.size(); ++i) check_same(greedy[i], told[i]);
    for (const bd::Beam& beam : {bd::Beam{.width = 1}, bd::Beam{.width = 3, .nbest = 2},
                                 bd::Beam{.width = 5, .nbest = 5, .coverage_penalty = 0.2, .min_length = 3},
                                 bd::Beam{.width = 4, .forbidden = {"5"}, .required = {"7", "9 4"}}}) {
      bd::Beam watched = beam;
      watched.runners_up = 11;  // all other tokens
      watched.history = true;
      const auto plain = bd::translate_nbest(model, sentences, beam),
                 seen = bd::translate_nbest(model, sentences, watched);
      for (std::size_t i = 0; i < sentences.size(); ++i) {
        REQUIRE(plain[i].size() == seen[i].size());
        for (std::size_t k = 0; k < plain[i].size(); ++k) check_same(plain[i][k], seen[i][k]);
      }
    }
  }
}

TEST_CASE("a search that was not asked tells nothing", "[decode][history]") {
  const Model model = toy(1);
  CHECK(model.translate("4 5").runners_up.empty());
  const bd::Translation beam = model.translate("4 5", bd::Beam{.width = 3});
  CHECK(beam.runners_up.empty());
  CHECK(beam.history == nullptr);
}

TEST_CASE("runners-up are the most probable other tokens, best first", "[decode][history]") {
  const Model model = toy(2);
  const auto check = [&](const bd::Translation& all, const bd::Translation& few) {
    REQUIRE(all.runners_up.size() == all.target.size());
    for (std::size_t t = 0; t < all.target.size(); ++t) {
      // All twelve tokens are there, each once, and their probabilities sum to 1.
      REQUIRE(all.runners_up[t].size() == 11);
      std::set<std::string> names{all.target[t]};
      double total = std::exp(all.log_probs[t]), before = 0;
      for (const bd::RunnerUp& other : all.runners_up[t]) {
        CHECK(other.log_prob <= before);
        before = other.log_prob;
        names.insert(other.token);
        total += std::exp(other.log_prob);
      }
      CHECK(names.size() == 12);
      CHECK(total == Approx(1).epsilon(1e-5));
      REQUIRE(few.runners_up[t].size() == 2);
      for (std::size_t k = 0; k < 2; ++k) {
        CHECK(few.runners_up[t][k].token == all.runners_up[t][k].token);
        CHECK(few.runners_up[t][k].log_prob == all.runners_up[t][k].log_prob);
      }
    }
  };
  check(model.translate("4 5 6", bd::Greedy{.runners_up = 100}),
        model.translate("4 5 6", bd::Greedy{.runners_up = 2}));
  check(model.translate("4 5 6", bd::Beam{.width = 4, .runners_up = 100}),
        model.translate("4 5 6", bd::Beam{.width = 4, .runners_up = 2}));
  // Nothing is more probable than what greedy search takes.
  const bd::Translation greedy = model.translate("8 9", bd::Greedy{.runners_up = 1});
  for (std::size_t t = 0; t < greedy.target.size(); ++t)
    CHECK(greedy.runners_up[t][0].log_prob <= greedy.log_probs[t]);
}

TEST_CASE("words that had to come have runners-up, too", "[decode][history]") {
  const Model model = toy(3);
  const bd::Translation forced = model.translate("4 5 6", bd::Greedy{.prefix = "7 7", .runners_up = 11});
  REQUIRE(forced.target.size() >= 2);
  CHECK(forced.target[1] == "7");
  CHECK(forced.runners_up[1].size() == 11);
  CHECK(forced.runners_up[1][0].log_prob >= forced.runners_up[1][1].log_prob);
}

TEST_CASE("a beam's history is the tree of what it kept, dropped and found", "[decode][history][beam]") {
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U}) {
    const Model model = toy(seed);
    const bd::Beam beam{.width = 3, .nbest = 3, .history = true};
    for (const auto& found : bd::translate_nbest(model, sentences, beam)) {
      REQUIRE(found[0].history != nullptr);
      CHECK(found[0].history == found.back().history);  // one for the sentence
      const bd::SearchHistory& history = *found[0].history;
      std::size_t placed = 0;
      for (std::size_t t = 0; t < history.steps.size(); ++t) {
        std::size_t kept = 0;
        CHECK(history.width == 3);
        CHECK(history.steps[t].size() <= 6);
        for (std::size_t i = 0; i < history.steps[t].size(); ++i) {
          const bd::Hypothesis& each = history.steps[t][i];
          if (i > 0) CHECK(each.score <= history.steps[t][i - 1].score);
          const double before = t == 0 ? 0 : history.steps[t - 1][each.parent].score;
          CHECK(each.score == before + each.log_prob);
          if (t > 0) CHECK(history.steps[t - 1][each.parent].fate == bd::Fate::kept);
          kept += each.fate == bd::Fate::kept ? 1 : 0;
          // Who was dropped was no better than who went on.
          if (each.fate == bd::Fate::dropped) CHECK(i >= 3);
          CHECK((each.fate == bd::Fate::ended) == std::isfinite(each.rank));
          if (each.fate == bd::Fate::ended && each.token == "<eos>")
            CHECK(each.rank == Approx(each.score / std::pow(static_cast<double>(t + 1), 0.75)));
          if (each.place == 0) continue;
          ++placed;
          const bd::Translation& translation = found[each.place - 1];
          CHECK(each.fate == bd::Fate::ended);
          CHECK(tokens_of(history, t, i) == translation.target);
          CHECK(each.score == translation.score);
        }
        CHECK(kept <= 3);
        CHECK((kept > 0) == (t + 1 < history.steps.size()));
      }
      CHECK(placed == found.size());
    }
  }
}

TEST_CASE("a beam that is told what to say has a history, too, the best first", "[decode][history][beam]") {
  const Model model = toy(2);
  const bd::Beam beam{.width = 4, .nbest = 2, .required = {"7", "9 4"}, .history = true};
  const auto found = bd::translate_nbest(model, {"4 5 6"}, beam).front();
  std::size_t placed = 0;
  for (std::size_t t = 0; t < found[0].history->steps.size(); ++t) {
    const auto& step = found[0].history->steps[t];
    for (std::size_t i = 0; i < step.size(); ++i) {
      if (i > 0) CHECK(step[i].score <= step[i - 1].score);
      if (t > 0) CHECK(found[0].history->steps[t - 1][step[i].parent].fate == bd::Fate::kept);
      if (step[i].place == 0) continue;
      ++placed;
      CHECK(tokens_of(*found[0].history, t, i) == found[step[i].place - 1].target);
    }
  }
  CHECK(placed == found.size());
}

TEST_CASE("an ensemble tells as a model does", "[decode][history]") {
  const bd::Ensemble ensemble{toy(1).freeze(), toy(2).freeze()};
  const bd::Translation plain = ensemble.translate("4 5 6", bd::Beam{.width = 3});
  const bd::Translation told =
      ensemble.translate("4 5 6", bd::Beam{.width = 3, .runners_up = 3, .history = true});
  check_same(plain, told);
  REQUIRE(told.history != nullptr);
  CHECK(told.runners_up.size() == told.target.size());
}

TEST_CASE("a translator's requests keep what they asked for", "[decode][history]") {
  bd::Translator translator(toy(1).freeze());
  auto plain = translator.submit("4 5 6", bd::Beam{.width = 3});
  auto told = translator.submit("4 5 6", bd::Beam{.width = 3, .runners_up = 2, .history = true});
  CHECK(plain.get().history == nullptr);
  const bd::Translation answer = told.get();
  CHECK(answer.history != nullptr);
  CHECK(answer.runners_up.size() == answer.target.size());
}

TEST_CASE("more runners-up than anyone reads are an error", "[decode][history][error]") {
  const Model model = toy(1);
  CHECK_THROWS_MATCHES(model.translate("4", bd::Greedy{.runners_up = 1001}), bd::Error,
                       Message("runners_up: expected at most 1000, got 1001"));
  CHECK_THROWS_AS(model.translate("4", bd::Beam{.width = 2, .runners_up = 1001}), bd::Error);
}
