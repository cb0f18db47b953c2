// Models that translate together: their mean, worked out by hand, and models that do not fit together.
#include <cmath>
#include <string>
#include <vector>

#include <bahdanau/bahdanau.hpp>

#include "decode/every_translation.hpp"
#include "support/backends.hpp"
#include "support/catch.hpp"
#include "support/message.hpp"
#include "support/sequences.hpp"

namespace bd = bahdanau;
using namespace bd::test;

namespace {

using Gru = bd::EncoderDecoder<bd::Gru, bd::Additive, TestBackend<double>>;
using Lstm = bd::EncoderDecoder<bd::Lstm, bd::ScaledDot, TestBackend<float>>;

const std::vector<std::string> sentences{"4 6 5", "5", "6 6 4 5 5 4", "4 4"};

double log_mean(const std::vector<double>& p) {
  double sum = 0;
  for (const double each : p) sum += std::log(each);
  return sum / static_cast<double>(p.size());
}
double log_of_mean(const std::vector<double>& p) {
  double sum = 0;
  for (const double each : p) sum += each;
  return std::log(sum / static_cast<double>(p.size()));
}

}  // namespace

TEST_CASE("a model with itself is the model", "[decode][ensemble]") {
  const auto frozen = toy_model<Lstm>(3).freeze();
  const auto check = [&](const bd::Ensemble& ensemble) {
    for (const std::string& sentence : sentences) {
      const auto compare = [&](const auto& options) {
        const bd::Translation one = frozen.translate(sentence, options);
        const bd::Translation both = ensemble.translate(sentence, options);
        CHECK(both.target == one.target);
        CHECK(both.text == one.text);
        CHECK(both.source == one.source);
        CHECK(both.score == Approx(one.score).epsilon(1e-6));
        REQUIRE(both.attention.shape() == one.attention.shape());
        for (std::size_t i = 0; i < one.attention.size(); ++i)
          CHECK(both.attention.data()[i] == Approx(one.attention.data()[i]).margin(1e-6));
      };
      compare(bd::Greedy{});
      compare(bd::Beam{.width = 3});
      compare(bd::Sample{.top = 4, .seed = 7});
    }
  };
  check(bd::Ensemble{frozen});
  check(bd::Ensemble{frozen, frozen});
  check(bd::Ensemble{frozen, frozen, frozen});
  check(bd::Ensemble({frozen, frozen}, bd::Average::probabilities));
}

TEST_CASE("models of different policies find the best by the mean of what each of them says",
          "[decode][ensemble][beam]") {
  const Gru gru = toy_model<Gru>(1);
  const Lstm lstm = toy_model<Lstm>(2);
  for (const auto average : {bd::Average::log_probabilities, bd::Average::probabilities}) {
    const bd::Ensemble ensemble({gru.freeze(), lstm.freeze()}, average);
    const auto all = every_translation(
        "4 6 5", 4, average == bd::Average::probabilities ? log_of_mean : log_mean, gru, lstm);
    for (const double penalty : {0.0, 0.4}) {
      bd::Beam beam{.width = 2500, .nbest = 10, .max_length = 4};
      beam.coverage_penalty = penalty;
      const auto expected = ranked(all, beam);
      const auto found = bd::translate_nbest(ensemble, {"4 6 5"}, beam)[0];
      REQUIRE(found.size() == 10);
      for (std::size_t i = 0; i < found.size(); ++i) {
        CHECK(found[i].target == expected[i].target);
        for (std::size_t t = 0; t < found[i].log_probs.size(); ++t)
          CHECK(found[i].log_probs[t] == Approx(expected[i].log_probs[t]).epsilon(1e-5));
      }
    }
    // Scoring says the same of what was found, and its attention is the mean.
    std::size_t ended = 0;
    const auto lists = bd::translate_nbest(ensemble, {"4 6 5"}, bd::Beam{.width = 6, .nbest = 6});
    for (const bd::Translation& found : lists[0]) {
      if (found.target.back() != "<eos>") continue;  // forced decoding needs one
      ++ended;
      const std::vector<bd::SentencePair> pair{{"4 6 5", found.text}};
      const bd::Translation scored = bd::score_pairs(ensemble, pair)[0];
      const bd::Translation a = bd::score_pairs(gru, pair)[0], b = bd::score_pairs(lstm, pair)[0];
      CHECK(scored.target == found.target);
      CHECK(scored.score == Approx(found.score).epsilon(1e-5));
      for (std::size_t t = 0; t < a.log_probs.size(); ++t) {
        const std::vector<double> p{std::exp(a.log_probs[t]), std::exp(b.log_probs[t])};
        CHECK(scored.log_probs[t] ==
              Approx(average == bd::Average::probabilities ? log_of_mean(p) : log_mean(p)).epsilon(1e-9));
      }
      REQUIRE(scored.attention.shape() == found.attention.shape());
      for (std::size_t i = 0; i < a.attention.size(); ++i) {
        CHECK(scored.attention.data()[i] ==
              Approx((a.attention.data()[i] + b.attention.data()[i]) / 2).margin(1e-6));
        CHECK(found.attention.data()[i] == Approx(scored.attention.data()[i]).margin(1e-5));
      }
    }
    CHECK(ended > 0);
  }
}

TEST_CASE("an ensemble translates alike alone, in a batch and on any threads", "[decode][ensemble][batch]") {
  const bd::Ensemble ensemble{toy_model<Gru>(1).freeze(), toy_model<Lstm>(2).freeze(),
                              toy_model<Gru>(3).freeze()};
  CHECK(ensemble.size() == 3);
  std::vector<std::string> many;
  for (int i = 0; i < 40; ++i) many.push_back(sentences[static_cast<std::size_t>(i) % 4]);
  constexpr double margin = bd::PackingBackend<TestBackend<float>> ? 0 : 1e-5;
  const auto check = [&](auto options) {
    const auto all = ensemble.translate(many, options);
    options.threads = 1;
    const auto one = ensemble.translate(many, options);
    for (std::size_t i = 0; i < many.size(); ++i) {
      CHECK(all[i].target == one[i].target);
      CHECK(std::abs(all[i].score - one[i].score) <= margin);
    }
    return all;
  };
  check(bd::Sample{.seed = 3});
  const auto beams = check(bd::Beam{.width = 3});
  const auto greedy = check(bd::Greedy{});
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(std::abs(ensemble.translate(many[i], bd::Beam{.width = 3}).score - beams[i].score) <= margin);
    CHECK(std::abs(ensemble.translate(many[i]).score - greedy[i].score) <= margin);
  }
  bd::Beam told{.width = 3};
  told.required = {"5 6"};
  for (const auto& t : ensemble.translate(sentences, told)) CHECK(has_phrase(t.target, "5 6"));
  bd::Greedy bounded;
  bounded.limits.memory = 1 << 10;
  CHECK_THROWS_AS(ensemble.translate("4 5", bounded), bd::LimitError);
}

TEST_CASE("models that read or write other words are refused, with the first of them",
          "[decode][ensemble][error]") {
  const auto model = [](bd::Vocabularies v) {
    return Gru({.embed = 2, .hidden = 2, .layers = 1}, v).freeze();
  };
  bd::Vocabularies v = numbered(7, 7, 4);
  const auto first = model(v);
  const auto message = [&](const bd::Vocabularies& other) {
    return message_of([&] { bd::Ensemble{first, model(other)}; });
  };
  const std::string hint = "; the models of an ensemble are trained with the same vocabularies";
  bd::Vocabularies other = v;
  other.target = bd::Vocabulary({"<unk>", "<pad>", "<bos>", "<eos>", "4", "chat", "6"});
  CHECK(message(other) ==
        "Ensemble, model 2: expected token 5 of the target vocabulary to be \"5\", as in the "
        "first model, got \"chat\"" +
            hint);
  other = v;
  other.source = bd::Vocabulary::numbered(9);
  CHECK(message(other) ==
        "Ensemble, model 2: expected a source vocabulary of 7 tokens, as in the first model, got 9" + hint);
  other = v;
  other.text.tokens = bd::Tokens::characters;
  CHECK(
      message(other) ==
      "Ensemble, model 2: expected source text as words, lower case, as in the first model, got characters, "
      "lower case");
  other = v;
  other.text.lowercase = false;
  CHECK(message(other) ==
        "Ensemble, model 2: expected source text as words, lower case, as in the first model, got words");
  other = v;
  other.text.target = bd::TextSide{.truecase = true};
  CHECK(
      message(other) ==
      "Ensemble, model 2: expected target text as words, lower case, as in the first model, got words, true "
      "case");
  other = v;
  other.text.max_length = 9;  // how long rows of a training were is a model's own matter
  CHECK(message(other) == "nothing was thrown");
  CHECK(message_of([] { bd::Ensemble(std::vector<bd::EnsembleMember>{}); }) ==
        "Ensemble: expected at least one model, got none");
}
