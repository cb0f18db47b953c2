// BLEU by hand and by sacrebleu, whose answers `make.py` recorded in `data/expected.json`.
// Perplexity is one exponential, tested along with them.
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <bahdanau/metric/bleu.hpp>
#include <bahdanau/metric/perplexity.hpp>

#include "metric/recorded.hpp"
#include "support/catch.hpp"

using bahdanau::Bleu;
using bahdanau::BleuTokens;
using bahdanau::CorpusBleu;
using bahdanau::Evaluation;
using bahdanau::perplexity;
using bahdanau::sentence_bleu;

namespace {

const std::filesystem::path data = BAHDANAU_GOLDEN_DIR "/../../metric/data";

std::vector<std::string> lines(const std::filesystem::path& path) {
  std::vector<std::string> result;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) result.push_back(line);
  return result;
}

}  // namespace

TEST_CASE("a sentence that is its label has BLEU 1", "[bleu]") {
  CHECK(sentence_bleu("va !", "va !") == 1);
  CHECK(sentence_bleu("j'ai perdu .", "j'ai perdu .") == 1);
  CHECK(sentence_bleu("je suis chez moi .", "je suis chez moi .", 4) == 1);
}

TEST_CASE("sentence BLEU is d2l's formula", "[bleu]") {
  // p1 = 3/4, p2 = 2/3
  CHECK(sentence_bleu("il est calme !", "il est calme .") ==
        Approx(std::pow(3 / 4., 1 / 2.) * std::pow(2 / 3., 1 / 4.)));
  CHECK(sentence_bleu("il est calme !", "il est calme .") == Approx(0.783).margin(0.0005));
  // d2l's worked example, A B C D E F against A B B C D: p1 = 4/5, p2 = 3/4, p3 = 1/3, p4 = 0, |label| >
  // |predicted|
  CHECK(sentence_bleu("a b b c d", "a b c d e f", 3) ==
        Approx(std::exp(-1 / 5.) * std::pow(4 / 5., 1 / 2.) * std::pow(3 / 4., 1 / 4.) *
               std::pow(1 / 3., 1 / 8.)));
  CHECK(sentence_bleu("a b b c d", "a b c d e f", 4) == 0);
}

TEST_CASE("a sentence that is too short is punished and one that is too long is not", "[bleu]") {
  CHECK(sentence_bleu("il est", "il est calme .") == Approx(std::exp(-1.)));  // p1 = p2 = 1
  CHECK(sentence_bleu("il est calme .", "il est") ==
        Approx(std::pow(2 / 4., 1 / 2.) * std::pow(1 / 3., 1 / 4.)));
}

TEST_CASE("orders that a sentence is too short for are left out", "[bleu]") {
  CHECK(sentence_bleu("va", "va", 4) == 1);
  CHECK(sentence_bleu("va !", "va", 1) == Approx(std::pow(1 / 2., 1 / 2.)));
  CHECK(sentence_bleu("va", "va !", 2) == Approx(std::exp(-1.)));
}

TEST_CASE("a label's word is matched once", "[bleu]") {
  CHECK(sentence_bleu("le le le le", "le chat", 1) == Approx(std::pow(1 / 4., 1 / 2.)));
}

TEST_CASE("nothing predicted and nothing in common have BLEU 0", "[bleu]") {
  CHECK(sentence_bleu("", "va !") == 0);
  CHECK(sentence_bleu("", "") == 0);
  CHECK(sentence_bleu("va !", "") == 0);
  CHECK(sentence_bleu("un deux", "va !") == 0);
}

TEST_CASE("tokens and text give the same BLEU", "[bleu]") {
  const std::vector<std::string> predicted{"il", "est", "calme", "!"}, label{"il", "est", "calme", "."};
  CHECK(sentence_bleu(predicted, label) == sentence_bleu(" il est  calme ! ", "il est calme ."));
  CorpusBleu tokens, text;
  tokens.add(predicted, label);
  text.add("il est calme !", "il est calme .");
  CHECK(tokens.score() == text.score());
  CHECK(tokens.score() > 0);
}

TEST_CASE("an n-gram is its tokens, not their letters", "[bleu]") {
  CHECK(sentence_bleu("ab c", "a bc") == 0);
}

TEST_CASE("corpus BLEU and its parts agree with sacrebleu", "[bleu]") {
  const auto expected = nlohmann::json::parse(std::ifstream(data / "expected.json"));
  REQUIRE(expected.size() == 10);
  for (const auto& [name, values] : expected.items()) {
    INFO(name);
    const std::vector<std::string> hypotheses = lines(data / ("hypotheses_" + name + ".txt"));
    const std::vector<std::string> references = lines(data / ("references_" + name + ".txt"));
    REQUIRE(hypotheses.size() == values["sentences"]);
    REQUIRE(references.size() == values["sentences"]);
    CorpusBleu corpus;
    double sum_2 = 0, sum_4 = 0;
    for (std::size_t i = 0; i < hypotheses.size(); ++i) {
      corpus.add(hypotheses[i], references[i]);
      sum_2 += sentence_bleu(hypotheses[i], references[i]);
      sum_4 += sentence_bleu(hypotheses[i], references[i], 4);
    }
    CHECK(corpus.score() == Approx(values["bleu"].get<double>()).margin(1e-9));
    CHECK(corpus.brevity_penalty() == Approx(values["brevity_penalty"].get<double>()).margin(1e-12));
    for (std::size_t n = 0; n < CorpusBleu::order; ++n)
      CHECK(corpus.precisions()[n] == Approx(values["precisions"][n].get<double>()).margin(1e-9));
    CHECK(corpus.predicted_length() == values["predicted_length"]);
    CHECK(corpus.reference_length() == values["reference_length"]);
    const auto count = static_cast<double>(hypotheses.size());
    CHECK(sum_2 / count == Approx(values["mean_sentence_bleu_2"].get<double>()).margin(1e-12));
    CHECK(sum_4 / count == Approx(values["mean_sentence_bleu_4"].get<double>()).margin(1e-12));
  }
}

TEST_CASE("corpus BLEU is made of sums, not of a mean", "[bleu]") {
  // Matches 4 + 5, 3 + 3, 2 + 1, 1 + 0 of 4 + 6, 3 + 5, 2 + 4, 1 + 3 n-grams, 10 tokens for 10.
  CorpusBleu corpus;
  corpus.add("a b c d", "a b c d");
  corpus.add("e f g x h i", "e f g y h i");
  CHECK(corpus.score() == Approx(100 * std::pow((9 / 10.) * (6 / 8.) * (3 / 6.) * (1 / 4.), 1 / 4.)));
  CHECK(corpus.brevity_penalty() == 1);
}

TEST_CASE("corpus BLEU goes from 0 to 100", "[bleu]") {
  CorpusBleu corpus;
  CHECK(corpus.score() == 0);
  CHECK(corpus.brevity_penalty() == 1);
  corpus.add("je suis chez moi .", "je suis chez moi .");
  CHECK(corpus.score() == 100);
}

TEST_CASE("BLEU of raw text is sacrebleu's, by 13a, by white space and by characters", "[bleu]") {
  bahdanau::test::check_recorded(Bleu{}, "bleu");
  bahdanau::test::check_recorded(Bleu{.lowercase = true}, "bleu_lowercase");
  bahdanau::test::check_recorded(Bleu{.tokens = BleuTokens::none}, "bleu_none");
  bahdanau::test::check_recorded(Bleu{.tokens = BleuTokens::characters}, "bleu_char");
}

TEST_CASE("BLEU has sacrebleu's signatures, and our version", "[bleu]") {
  bahdanau::test::check_signature(Bleu{}, "bleu");
  bahdanau::test::check_signature(Bleu{.lowercase = true}, "bleu_lowercase");
  bahdanau::test::check_signature(Bleu{.tokens = BleuTokens::none}, "bleu_none");
  bahdanau::test::check_signature(Bleu{.tokens = BleuTokens::characters}, "bleu_char");
}

TEST_CASE("BLEU of raw text is that of its tokens", "[bleu]") {
  CorpusBleu tokens;
  tokens.add("il est calme , je crois .", "il est calme , dit - elle .");
  Evaluation<Bleu> text;
  text.add("il est calme, je crois.", "il est calme , dit - elle .");
  CHECK(text.score() == tokens.score());
  CHECK(text.score() > 0);
}

TEST_CASE("an n-gram is matched as often as it is in one of the references, never in their sum", "[bleu]") {
  const std::vector<std::string_view> references{"a a b", "a c c"};
  const bahdanau::BleuStatistics counts = Bleu{}.statistics("a a a c c", references);
  CHECK(counts.matches[0] == 4);  // a twice, by the first, and c twice, by the second
  CHECK(counts.totals[0] == 5);
  CHECK(counts.reference_length == 3);
}

TEST_CASE("of references that are equally near in length BLEU takes the shorter", "[bleu]") {
  CHECK(Bleu{}.statistics("a b c", std::vector<std::string_view>{"a b c d", "a b"}).reference_length == 2);
  CHECK(Bleu{}.statistics("a b c", std::vector<std::string_view>{"a b", "a b c d"}).reference_length == 2);
  CHECK(Bleu{}.statistics("a b c", std::vector<std::string_view>{"a", "a b c d"}).reference_length == 4);
}

TEST_CASE("case matters to BLEU", "[bleu]") { CHECK(sentence_bleu("Va", "va") == 0); }

TEST_CASE("a model that guesses among V tokens has perplexity V", "[perplexity]") {
  CHECK(perplexity(std::log(201.)) == Approx(201));
  CHECK(perplexity(0) == 1);
}
