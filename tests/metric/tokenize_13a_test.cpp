// The tokenisation 13a by hand, and as sacrebleu has it for the recorded lines; lower case as Python has it.
#include <cstddef>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <bahdanau/core/error.hpp>
#include <bahdanau/metric/lower_case.hpp>
#include <bahdanau/metric/tokenize_13a.hpp>
#include <bahdanau/metric/words.hpp>

#include "metric/recorded.hpp"
#include "support/catch.hpp"

using bahdanau::tokenize_13a;
using bahdanau::test::recorded_metrics;

namespace {

std::string joined(const std::string& line) {
  std::string result;
  for (const std::string& token : tokenize_13a(line)) result += (result.empty() ? "" : " ") + token;
  return result;
}

}  // namespace

TEST_CASE("13a sets signs apart, and stops unless they are inside numbers", "[metric][tokenize]") {
  CHECK(joined("Hello, world!") == "Hello , world !");
  CHECK(joined("He paid 3.14 euros, not 3,140.") == "He paid 3.14 euros , not 3,140 .");
  CHECK(joined("at 10:30 (sharp)") == "at 10 : 30 ( sharp )");
  CHECK(joined("v2.x and x.2") == "v2 . x and x . 2");
}

TEST_CASE("13a leaves apostrophes and hyphens inside words, and splits a hyphen behind a digit",
          "[metric][tokenize]") {
  CHECK(joined("it's well-known") == "it's well-known");
  CHECK(joined("1990-2000 and A-4") == "1990 - 2000 and A-4");
}

TEST_CASE("13a takes neighbours from the left", "[metric][tokenize]") {
  CHECK(joined("x..5") == "x . .5");
  CHECK(joined("5..x") == "5 . . x");
}

TEST_CASE("13a reads entities, one within another too", "[metric][tokenize]") {
  CHECK(joined("&quot;a&quot; &amp;lt; &apos;") == "\" a \" < & apos ;");
}

TEST_CASE("13a splits other scripts at white space alone", "[metric][tokenize]") {
  CHECK(joined("今天很好。 明天") == "今天很好。 明天");
  CHECK(joined("a\xC2\xA0"
               "b\xE3\x80\x80"
               "c") == "a b c");
}

TEST_CASE("13a gives sacrebleu's tokens", "[metric][tokenize]") {
  const auto& lines = recorded_metrics()["lines"];
  REQUIRE(lines.size() > 80);
  for (const auto& line : lines) {
    INFO(line["line"]);
    CHECK(tokenize_13a(line["line"].get<std::string>()) == line["tokens"].get<std::vector<std::string>>());
  }
}

TEST_CASE("lower case is Python's", "[metric][lower_case]") {
  for (const auto& line : recorded_metrics()["lines"])
    CHECK(bahdanau::detail::lower_case(line["line"].get<std::string>()) == line["lower"]);
  CHECK(bahdanau::detail::lower_case("ΟΔΟΣ ΣΟΦΙΑΣ Σ") == "οδος σοφιας σ");
  CHECK(bahdanau::detail::lower_case("İ") == "i\xCC\x87");
}

TEST_CASE("text that is not UTF-8 has no tokens", "[metric][tokenize][error]") {
  CHECK_THROWS_WITH(tokenize_13a("va \xFF"), "text: expected UTF-8, got byte 0xff at offset 3");
  CHECK_THROWS_AS(bahdanau::detail::lower_case("\xC3"), bahdanau::Error);
  CHECK_THROWS_AS(bahdanau::detail::words_of("a \xE2\x80"), bahdanau::Error);
}
