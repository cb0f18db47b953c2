// chrF and chrF++ by hand and by sacrebleu, whose answers `make.py` recorded in `data/metrics.json`.
#include <string_view>
#include <vector>

#include <bahdanau/metric/chrf.hpp>
#include <bahdanau/metric/evaluation.hpp>

#include "metric/recorded.hpp"
#include "support/catch.hpp"

using bahdanau::Chrf;
using bahdanau::ChrfPlusPlus;
using bahdanau::Evaluation;

namespace {

template <class M = Chrf>
double score(std::string_view prediction, std::string_view reference, const M& metric = {}) {
  Evaluation<M> evaluation(metric);
  evaluation.add(prediction, reference);
  return evaluation.score();
}

}  // namespace

TEST_CASE("chrF is its formula", "[chrf]") {
  // abcd against abc: characters 3/4 and 3/3, pairs 2/3 and 2/2, triples 1/2 and 1/1; longer ones left out.
  const double p = (3 / 4. + 2 / 3. + 1 / 2.) / 3, r = 1;
  CHECK(score("abcd", "abc") == Approx(100 * 5 * p * r / (4 * p + r)));
  CHECK(score("abcd", "abc", Chrf{.beta = 1}) == Approx(100 * 2 * p * r / (p + r)));
}

TEST_CASE("chrF goes from 0 to 100, and sees no white space", "[chrf]") {
  CHECK(score("je suis chez moi", "je suis chez moi") == Approx(100));
  CHECK(score("je suis chezmoi", " jesuis chez  moi") == Approx(100));
  CHECK(score("abc", "xyz") == 0);
  CHECK(score("", "abc") == 0);
  CHECK(score("abc", "") == 0);
  CHECK(score("", "") == 0);
  CHECK(Evaluation<Chrf>().score() == 0);
}

TEST_CASE("a character is a code point", "[chrf]") {
  CHECK(score("é", "è") == 0);
  CHECK(score("今天", "今日") == Approx(100 * (1 / 4.)));  // characters 1/2, pairs 0/1
}

TEST_CASE("chrF++ counts words too", "[chrf]") {
  // Characters and pairs are right, of words b. against b . none but the b; no pair of words on either side.
  CHECK(score("ab", "a b") == Approx(100));
  CHECK(score<ChrfPlusPlus>("ab", "a b") < 70);
  CHECK(score<ChrfPlusPlus>("a b.", "a b .") == Approx(100));
}

TEST_CASE("chrF and chrF++ agree with sacrebleu", "[chrf]") {
  bahdanau::test::check_recorded(Chrf{}, "chrf");
  bahdanau::test::check_recorded(Chrf{.lowercase = true}, "chrf_lowercase");
  bahdanau::test::check_recorded(Chrf{.beta = 3}, "chrf_beta_3");
  bahdanau::test::check_recorded(ChrfPlusPlus{}, "chrf++");
}

TEST_CASE("chrF has sacrebleu's names and signatures", "[chrf]") {
  CHECK(Chrf{}.name() == "chrF2");
  CHECK(Chrf{.beta = 3}.name() == "chrF3");
  CHECK(ChrfPlusPlus{}.name() == "chrF2++");
  bahdanau::test::check_signature(Chrf{}, "chrf");
  bahdanau::test::check_signature(Chrf{.lowercase = true}, "chrf_lowercase");
  bahdanau::test::check_signature(ChrfPlusPlus{}, "chrf++");
}
