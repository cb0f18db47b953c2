// The tokenisation 13a by hand, and as sacrebleu has it for the recorded lines; lower case as Python has it.
#include <cstddef>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <bahdanau/core/error.hpp>
#include <bahdanau/metric/lower_case.hpp>
#include <bahdanau/metric/tokenize_13a.hpp>
#include <bahdanau/metric/words.hpp>
#include <bahdanau/text/text_options.hpp>
#include <bahdanau/text/tokenize.hpp>

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

TEST_CASE("words_and_marks are sacrebleu's tokens, but where they are others for a reason",
          "[metric][tokenize]") {
  // Quotes at a word are marks; text is no HTML, and lines are not joined; times, ranges, abbreviations,
  // numbers of any script and runs of one mark stay whole; a hyphen is no part of a number; marks of all
  // scripts count.
  const std::vector<std::string> expected{R"(She|wrote|'|soon|'|on|the|door|.)",
                                          R"(&|quot|;|Come|in|,|&|quot|;|said|the|cook|.)",
                                          R"(Salt|&|amp|;|pepper|:|2|&|lt|;|5|&|gt|;|3|&|nbsp|;)",
                                          R"(&|amp|;|quot|;|stays|and|&|amp|;|lt|;|does|not)",
                                          R"(It's|the|boys|'|dog's|bone|,|isn't|it|?)",
                                          R"(The|train|at|10:30|was|late|.)",
                                          R"(The|10:30|train|was|late|.)",
                                          R"(Wait|...|what|?|!|U.S.A|.|e.g|.|,|etc|.)",
                                          R"(Wait|...|what|?|!|USA|,|e.g|.|etc|.)",
                                          R"(x|..|5|5|..|x|.|5|5|.|,,,|1,2,3|x|,|5|5|,|x|...)",
                                          R"(x|.|.|5|5|..|x|.|5|5|.|,|,|,|1,2,3|x|,|5|5|,|x)",
                                          R"(1990-2000|,|5|--|6|,|7|-|,|-|8|and|9-a)",
                                          R"(A|well|known|25-year-old|oak)",
                                          R"($|5.00|-|$|6.50|(|approx|.|)|,|20|%|-|30|%|off|!)",
                                          R"(٣|٫|١|３.１|1.٣|٣.1)",
                                          R"(٣|٫|١|３|.|１|1|.|٣)",
                                          R"(one|two|three|four|five|six)",
                                          R"(a|hyphen|-|ated|word|and|more|-)",
                                          R"(<|skipped|>|some|words|are|<|skipped|>|left|out)",
                                          R"(今天天气很好|。)",
                                          R"(今天的天气非常好|。)",
                                          R"(Ο|ΛΟΓΟΣ|.|ΑΣ|’|ΤΟ|ΣΑ|,|Σ|ΟΔΟΣ|!)",
                                          R"(ο|λόγος|.|ασ|’|το|σα|,|σ|οδος|!)",
                                          R"((|hi|)|(|hi|!|a|!|!!|a|!)"};
  std::vector<std::string> found;
  for (const auto& line : recorded_metrics()["lines"]) {
    const auto tokens = bahdanau::tokenize(
        line["line"].get<std::string>(),
        bahdanau::TextSide{.tokens = bahdanau::Tokens::words_and_marks, .lowercase = false});
    if (tokens == line["tokens"].get<std::vector<std::string>>()) continue;
    std::string text;
    for (const std::string& token : tokens) text += (text.empty() ? "" : "|") + token;
    found.push_back(text);
  }
  CHECK(found == expected);
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
