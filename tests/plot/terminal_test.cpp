// The heatmap in a terminal: lines of one width whatever the script, within the columns that there are.
// Colours are escape sequences, taken out here before a line is measured.
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <bahdanau/plot/terminal.hpp>

#include "plot/attention_example.hpp"
#include "support/catch.hpp"

using bahdanau::Error;
using bahdanau::Translation;
using bahdanau::detail::columns_of;
using bahdanau::plot::heatmap_text;
using bahdanau::test::attention_example;
using bahdanau::test::hostile_tokens;
using bahdanau::test::numbered_words;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Message;

namespace {

std::vector<std::string> lines(std::string_view text) {
  std::vector<std::string> result;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    REQUIRE(end != text.npos);
    result.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return result;
}

std::string without_colours(std::string text) {
  for (std::size_t at; (at = text.find('\x1b')) != text.npos;) text.erase(at, text.find('m', at) + 1 - at);
  return text;
}

std::vector<Translation> examples() {
  return {
      attention_example({"he's", "calm", ".", "<eos>"}, {"il", "est", "calme", ".", "<eos>"}),
      attention_example({"e\u0301te\u0301", "était", "fatiguée", "<eos>"}, {"she", "was", "tired", "<eos>"}),
      attention_example({"我", "去", "北", "京", "。", "<eos>"}, {"私", "は", "ﾊ", "ＡＢ", "<eos>"}),
      attention_example({"<eos>"}, {"<eos>"}),
      attention_example(hostile_tokens(), hostile_tokens()),
      attention_example(numbered_words("mot", 30), numbered_words("internationalisation", 8)),
      attention_example(numbered_words("字", 200), numbered_words("word", 60))};
}

}  // namespace

TEST_CASE("a heatmap in shades looks as it should", "[plot][terminal]") {
  Translation example = attention_example({"he's", "calm", "<eos>"}, {"il", "été", "<eos>"});
  example.attention = {{0.8F, 0.19F, 0.01F}, {0.0F, 0.6F, 0.4F}, {0.0F, 0.0F, 1.0F}};
  CHECK(lines(heatmap_text(example, false)) ==
        std::vector<std::string>{"        he's  calm <eos>  ", "      ┌──────────────────┐",
                                 "   il │██████░░░░░░      │", "  été │      ▓▓▓▓▓▓▒▒▒▒▒▒│",
                                 "<eos> │            ██████│", "      └──────────────────┘",
                                 "0 %  ░░▒▒▓▓██ 100 %       "});
}

TEST_CASE("long labels stand above their columns, from top to bottom", "[plot][terminal]") {
  std::vector<std::string> source = numbered_words("x", 9);
  source.insert(source.begin(), "déjà-vu-encore");
  const std::vector<std::string> found = lines(heatmap_text(attention_example(source, {"a"}), false));
  const std::string_view label[] = {"d", "é", "j", "à", "-", "v", "u", "-", "e", "n", "c", "o", "r", "e"};
  for (std::size_t i = 0; i < std::size(label); ++i) {
    CHECK(found[i].substr(0, 4 + label[i].size()) == "    " + std::string(label[i]));
  }
  CHECK(found[14].starts_with("  ┌"));
}

TEST_CASE("all lines of a heatmap are equally wide and fit the terminal", "[plot][terminal]") {
  const bool colour = GENERATE(false, true);
  const std::size_t columns = GENERATE(std::size_t{24}, std::size_t{40}, std::size_t{80}, std::size_t{200});
  for (const Translation& example : examples()) {
    const std::vector<std::string> found = lines(without_colours(heatmap_text(example, colour, columns)));
    for (const std::string& line : found) {
      CHECK(columns_of(line) == columns_of(found.front()));
      CHECK(columns_of(line) <= columns);
    }
  }
}

TEST_CASE("columns that do not fit go into further panels, none is lost", "[plot][terminal]") {
  const Translation example = attention_example(numbered_words("mot", 60), numbered_words("word", 5));
  std::size_t cells = 0;
  std::size_t panels = 0;
  for (const std::string& line : lines(heatmap_text(example, false))) {
    if (!line.starts_with("word0 │")) continue;
    const std::size_t begin = line.find("│") + std::string_view("│").size();
    cells += columns_of(line.substr(begin, line.rfind("│") - begin)) / 2;
    ++panels;
  }
  CHECK(panels == 2);
  CHECK(cells == 60);
}

TEST_CASE("a coloured heatmap has the picture's colours, percentages, and ends each line without colour",
          "[plot][terminal]") {
  Translation example = attention_example({"a", "b"}, {"x"});
  example.attention = {{0.25F, 0.75F}};
  const std::vector<std::string> found = lines(heatmap_text(example, true));
  CHECK_THAT(found[2], ContainsSubstring("\x1b[48;2;198;219;239;38;2;0;0;0m 25"));
  CHECK_THAT(found[2], ContainsSubstring("\x1b[48;2;33;113;181;38;2;255;255;255m 75"));
  for (const std::string& line : found) {
    if (line.find('\x1b') == line.npos) continue;
    CHECK(line.substr(line.rfind('\x1b')).starts_with("\x1b[0m"));
  }
}

TEST_CASE("a token cannot send commands to the terminal", "[plot][terminal]") {
  const std::string text = heatmap_text(attention_example(hostile_tokens(), hostile_tokens()), false);
  for (char character : text) CHECK((character == '\n' || static_cast<unsigned char>(character) >= 0x20));
}

TEST_CASE("the same translation gives the same text, and bad attention is refused", "[plot][terminal]") {
  for (const Translation& example : examples())
    CHECK(heatmap_text(example, true) == heatmap_text(example, true));
  CHECK_THROWS_MATCHES(heatmap_text({}, false), Error,
                       Message("heatmap: expected at least one target and one source token, got 0 and 0"));
  Translation example = attention_example({"a"}, {"x"});
  example.target.emplace_back("y");
  CHECK_THROWS_MATCHES(
      heatmap_text(example, true), Error,
      Message("heatmap: expected attention [2, 1] as there are target and source tokens, got [1, 1]"));
}

TEST_CASE("keys that are not as many as the tokens have numbers for labels", "[plot][terminal]") {
  Translation example = attention_example({"one", "two"}, {"x"});
  for (const std::size_t more : {1U, 2U}) {  // two keys for three and for four tokens
    example.source.emplace_back("more");
    CAPTURE(more);
    const std::string text = heatmap_text(example, false);
    CHECK_THAT(lines(text)[0], ContainsSubstring("1") && ContainsSubstring("2"));
    CHECK(text.find("one") == text.npos);
  }
  example.source = {"one"};  // and for one
  CHECK_THAT(lines(heatmap_text(example, false))[0], ContainsSubstring("1") && ContainsSubstring("2"));
}
