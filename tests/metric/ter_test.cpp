// TER by hand and by sacrebleu, whose answers `make.py` recorded in `data/metrics.json`.
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <bahdanau/metric/evaluation.hpp>
#include <bahdanau/metric/ter.hpp>

#include "metric/recorded.hpp"
#include "support/catch.hpp"

using bahdanau::Evaluation;
using bahdanau::Ter;

namespace {

std::size_t edits(std::string_view prediction, std::string_view reference) {
  return Ter{}.statistics(prediction, std::vector<std::string_view>{reference}).edits;
}

}  // namespace

TEST_CASE("a phrase that stands elsewhere is one edit", "[ter]") {
  CHECK(edits("we left the house in the morning", "we left the house in the morning") == 0);
  CHECK(edits("in the morning we left the house", "we left the house in the morning") == 1);
  CHECK(edits("b c d e f a", "a b c d e f") == 1);
  CHECK(edits("we left in the morning the house", "we left the house in the evening") == 2);
}

TEST_CASE("other words are inserted, deleted and replaced", "[ter]") {
  CHECK(edits("a b c", "a x c") == 1);
  CHECK(edits("a c", "a b c") == 1);
  CHECK(edits("a b c", "a c") == 1);
  CHECK(edits("", "a b c") == 3);
  CHECK(edits("a b c", "") == 3);
}

TEST_CASE("TER is the edits for a hundred words of the references", "[ter]") {
  Evaluation<Ter> evaluation;
  CHECK(evaluation.score() == 0);
  evaluation.add("b a", "a b");
  evaluation.add("c", "c d e f g h");
  CHECK(evaluation.score() == 100 * 6 / 8.);
  evaluation.add("x", {"y z", "x y y y"});  // two edits to the nearer, of three words
  CHECK(evaluation.score() == Approx(100 * 8 / 11.));
}

TEST_CASE("TER of empty references is 0 or 100", "[ter]") {
  Evaluation<Ter> evaluation;
  evaluation.add("", "");
  CHECK(evaluation.score() == 0);
  evaluation.add("a b", "");
  CHECK(evaluation.score() == 100);
}

TEST_CASE("TER agrees with sacrebleu, beyond tercom's limits too", "[ter]") {
  bahdanau::test::check_recorded(Ter{}, "ter");
  bahdanau::test::check_recorded(Ter{.case_sensitive = true}, "ter_case");
}

TEST_CASE("TER has sacrebleu's signature", "[ter]") {
  bahdanau::test::check_signature(Ter{}, "ter");
  bahdanau::test::check_signature(Ter{.case_sensitive = true}, "ter_case");
}

TEST_CASE("memory of TER grows with the length of a line, not with its square", "[ter]") {
  std::string prediction, reference;
  for (int i = 0; i < 20000; ++i) {  // 20,000 by 20,000 cells would be gigabytes
    prediction += "w" + std::to_string(i) + " ";
    reference += "w" + std::to_string(i % 100 == 0 ? -i : i) + " ";
  }
  CHECK(edits(prediction, reference) == 199);  // w0 is w-0
}
