// Error rates and exact matches by hand, and as `make.py` worked them out from their formulas.
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <bahdanau/metric/edit_distance.hpp>
#include <bahdanau/metric/error_rate.hpp>
#include <bahdanau/metric/evaluation.hpp>
#include <bahdanau/metric/exact_match.hpp>

#include "metric/recorded.hpp"
#include "support/catch.hpp"

using bahdanau::CharacterErrorRate;
using bahdanau::DictionaryWordErrorRate;
using bahdanau::edit_distance;
using bahdanau::Evaluation;
using bahdanau::ExactMatch;
using bahdanau::PhoneErrorRate;
using bahdanau::WordErrorRate;

namespace {

std::size_t letters(std::string_view a, std::string_view b) {
  return edit_distance(std::vector<char>(a.begin(), a.end()), std::vector<char>(b.begin(), b.end()));
}

template <class M>
double score(std::string_view prediction, std::string_view reference, const M& metric = {}) {
  Evaluation<M> evaluation(metric);
  evaluation.add(prediction, reference);
  return evaluation.score();
}

}  // namespace

TEST_CASE("the edit distance is the fewest insertions, deletions and replacements", "[edit_distance]") {
  CHECK(letters("kitten", "sitting") == 3);
  CHECK(letters("saturday", "sunday") == 3);
  CHECK(letters("", "abc") == 3);
  CHECK(letters("abc", "") == 3);
  CHECK(letters("", "") == 0);
  CHECK(letters("abc", "abc") == 0);
  CHECK(letters("ab", "ba") == 2);
  CHECK(letters("aa", "aaaa") == 2);  // of which both begin and end with the same
  CHECK(letters("abcabc", "abc") == 3);
}

TEST_CASE("WER counts words and CER code points, for a hundred of the references", "[error_rate]") {
  CHECK(score<WordErrorRate>("il est là", "il est calme") == Approx(100 / 3.));
  CHECK(score<CharacterErrorRate>("été", "ete") == Approx(200 / 3.));
  CHECK(score<CharacterErrorRate>("a  b ", " ab") == Approx(50));  // one space too many
  CHECK(score<WordErrorRate>("a b c d", "x") == 400);
  CHECK(score<WordErrorRate>("Il EST", "il est") == 100);
  CHECK(score("Il EST", "il est", WordErrorRate{.lowercase = true}) == 0);
  CHECK(score("Il EST", "il est", CharacterErrorRate{.lowercase = true}) == 0);
  CHECK(score<WordErrorRate>("", "") == 0);
  CHECK(score<WordErrorRate>("a", "") == 100);
}

TEST_CASE("error rates are those of all words, not means of sentences", "[error_rate]") {
  Evaluation<WordErrorRate> evaluation;
  evaluation.add("x", "a");
  evaluation.add("a b c", "a b c");
  CHECK(evaluation.score() == 25);
}

TEST_CASE("a word with several pronunciations is scored by the nearest one", "[error_rate]") {
  Evaluation<PhoneErrorRate> phones;
  Evaluation<DictionaryWordErrorRate> words;
  const auto add = [&](std::string_view prediction, const std::vector<std::string>& references) {
    phones.add(prediction, references);
    words.add(prediction, references);
  };
  add("T AH M AA T OW", {"T AH M EY T OW", "T AH M AA T OW"});
  CHECK(phones.score() == 0);
  CHECK(words.score() == 0);
  add("R UW T", {"R AW T", "R UW T S"});  // one edit either way: the longer one has more phones
  CHECK(phones.score() == Approx(100 * 1 / 10.));
  CHECK(words.score() == 50);
  add("AY DH ER", {"IY DH ER"});
  CHECK(phones.score() == Approx(100 * 2 / 13.));
  CHECK(words.score() == Approx(100 * 2 / 3.));
}

TEST_CASE("the order of references does not matter", "[error_rate]") {
  const std::vector<std::string_view> references{"R AW T", "R UW T S"}, turned{"R UW T S", "R AW T"};
  CHECK(PhoneErrorRate{}.statistics("R UW T", references).reference_length == 4);
  CHECK(PhoneErrorRate{}.statistics("R UW T", turned).reference_length == 4);
}

TEST_CASE("a match is exact but for white space", "[exact_match]") {
  CHECK(score<ExactMatch>(" va  ! ", "va !") == 100);
  CHECK(score<ExactMatch>("Va !", "va !") == 0);
  CHECK(score("Va !", "va !", ExactMatch{.lowercase = true}) == 100);
  CHECK(score<ExactMatch>("va!", "va !") == 0);
  CHECK(score<ExactMatch>("", "") == 100);
  CHECK(Evaluation<ExactMatch>().score() == 0);
  CHECK(Evaluation<DictionaryWordErrorRate>().score() == 0);
}

TEST_CASE("error rates and exact matches are those of their formulas", "[error_rate][exact_match]") {
  bahdanau::test::check_recorded(WordErrorRate{}, "wer");
  bahdanau::test::check_recorded(PhoneErrorRate{}, "wer");
  bahdanau::test::check_recorded(CharacterErrorRate{}, "cer");
  bahdanau::test::check_recorded(ExactMatch{}, "exact");
}
