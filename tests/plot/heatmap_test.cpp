// The SVG heatmap: well-formed whatever the tokens, complete, inside its page, and refused for bad attention.
// Text boxes are estimated as the picture itself estimates them.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <bahdanau/plot/heatmap.hpp>

#include "plot/attention_example.hpp"
#include "plot/xml.hpp"
#include "support/catch.hpp"
#include "support/file_bytes.hpp"
#include "support/temporary_directory.hpp"

using bahdanau::Error;
using bahdanau::Translation;
using bahdanau::plot::heatmap_svg;
using bahdanau::test::attention_example;
using bahdanau::test::Element;
using bahdanau::test::elements;
using bahdanau::test::hostile_tokens;
using bahdanau::test::numbered_words;
using Catch::Matchers::Message;

namespace {

std::vector<std::string> texts(const std::string& svg) {
  std::vector<std::string> result;
  for (const Element& element : elements(svg, "text")) result.push_back(element.text);
  return result;
}

std::vector<Translation> examples() {
  return {attention_example({"go", ".", "<eos>"}, {"va", "!", "<eos>"}),
          attention_example({"elle", "était", "fatiguée", "<eos>"}, {"she", "was", "tired", "<eos>"}),
          attention_example({"我", "去", "北", "京", "。", "<eos>"},
                            {"i'm", "going", "to", "beijing", ".", "<eos>"}),
          attention_example({"<eos>"}, {"<eos>"}),
          attention_example({"a", "internationalisation"}, {"b"}),
          attention_example(hostile_tokens(), hostile_tokens()),
          attention_example(numbered_words("mot", 60), numbered_words("internationalisation", 40))};
}

}  // namespace

TEST_CASE("a heatmap is well-formed and says its tokens on both axes", "[plot][heatmap]") {
  for (const Translation& example : examples()) {
    const std::vector<std::string> found = texts(heatmap_svg(example, {.title = "a <title> & \"more\""}));
    std::vector<std::string> expected = {"a <title> & \"more\""};
    for (const auto& token : example.source) expected.push_back(bahdanau::detail::visible(token));
    for (const auto& token : example.target) expected.push_back(bahdanau::detail::visible(token));
    REQUIRE(found.size() == expected.size() + 5);  // the colour bar's ticks come last
    for (std::size_t i = 0; i < expected.size(); ++i) {
      CHECK((found[i] == expected[i] || found[i].ends_with("…")));
    }
    CHECK(std::vector(found.end() - 5, found.end()) ==
          std::vector<std::string>{"0", "0.25", "0.5", "0.75", "1"});
  }
}

TEST_CASE("a heatmap has a cell for each target and source token, with its exact weight", "[plot][heatmap]") {
  for (const Translation& example : examples()) {
    CHECK(elements(heatmap_svg(example), "title").size() == example.target.size() * example.source.size());
  }
  Translation example = attention_example({"the", "<b>"}, {"le", "d'\"&"});
  example.attention = {{0.125F, 0.875F}, {0.1F, 0.9F}};
  std::vector<std::string> tips;
  for (const Element& title : elements(heatmap_svg(example), "title")) tips.push_back(title.text);
  CHECK(tips == std::vector<std::string>{"le ← the: 0.125", "le ← <b>: 0.875", "d'\"& ← the: 0.1",
                                         "d'\"& ← <b>: 0.9"});
}

TEST_CASE("more weight is a darker colour", "[plot][heatmap]") {
  using bahdanau::detail::weight_colour;
  auto lightness = [](double weight) {
    const auto [red, green, blue] = weight_colour(weight);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  for (int i = 0; i < 64; ++i) CHECK(lightness(i / 64.0) > lightness((i + 1) / 64.0));
  CHECK(weight_colour(0).hex() == "#f7fbff");
  CHECK(weight_colour(1).hex() == "#08306b");
  CHECK(weight_colour(-1e-4) == weight_colour(0));
  CHECK(weight_colour(1.0001) == weight_colour(1));

  Translation example = attention_example({"a", "b", "c"}, {"x"});
  example.attention = {{0.0F, 0.25F, 0.75F}};
  std::vector<std::string> fills;
  for (const Element& rect : elements(heatmap_svg(example), "rect"))
    fills.push_back(rect.attributes.at("fill"));
  CHECK(fills == std::vector<std::string>{"#fff", "#f7fbff", "#c6dbef", "#2171b5", "url(#weights)"});
}

TEST_CASE("everything in a heatmap is inside its page", "[plot][heatmap]") {
  const std::string title = GENERATE(std::string(), std::string(200, 'W'));
  const double cell = GENERATE(8.0, 28.0, 200.0);
  for (const Translation& example : examples()) {
    const std::string svg = heatmap_svg(example, {.title = title, .cell = cell});
    const Element page = elements(svg, "svg").at(0);
    const double width = page.number("width");
    const double height = page.number("height");
    for (const Element& rect : elements(svg, "rect")) {
      if (!rect.attributes.contains("x")) continue;
      CHECK(rect.number("x") + rect.number("width") < width);
      CHECK(rect.number("y") + rect.number("height") < height);
    }
    for (const Element& text : elements(svg, "text")) {
      const double length = bahdanau::detail::ems_of(text.text) * text.number("font-size");
      const bool ends = text.attributes.contains("text-anchor") && text.attributes.at("text-anchor") == "end";
      const bool rotated = text.attributes.contains("transform");
      CHECK(text.number("x") - (ends ? length : 0) > 0);
      CHECK(text.number("x") + (ends ? 0 : rotated ? length * std::sqrt(0.5) : length / 2) < width);
      CHECK(text.number("y") - (rotated ? length * std::sqrt(0.5) : 0) - text.number("font-size") / 2 > 0);
      CHECK(text.number("y") < height);
    }
  }
}

TEST_CASE("column labels are rotated when a word is wider than a cell", "[plot][heatmap]") {
  auto rotated = [](const Translation& example) {
    std::map<std::string, bool> result;
    for (const Element& text : elements(heatmap_svg(example), "text")) {
      result[text.text] = text.attributes.contains("transform");
    }
    return result;
  };
  auto words = rotated(attention_example({"a", "translation", "<eos>"}, {"x"}));
  CHECK(words.at("a"));
  CHECK(words.at("translation"));
  auto characters = rotated(attention_example({"北", "京", "<eos>"}, {"x"}));
  CHECK_FALSE(characters.at("北"));
  CHECK(characters.at("<eos>"));
}

TEST_CASE("the same translation gives the same picture", "[plot][heatmap]") {
  for (const Translation& example : examples()) CHECK(heatmap_svg(example) == heatmap_svg(example));
}

TEST_CASE("a heatmap refuses attention that is empty or does not fit its tokens", "[plot][heatmap]") {
  CHECK_THROWS_MATCHES(heatmap_svg(Translation{}), Error,
                       Message("heatmap: expected at least one target and one source token, got 0 and 0"));
  Translation example = attention_example({"a", "b", "c"}, {"x", "y"});
  example.target.pop_back();
  CHECK_THROWS_MATCHES(
      heatmap_svg(example), Error,
      Message("heatmap: expected attention [1, 3] as there are target and source tokens, got [2, 3]"));
  example.attention = {};
  CHECK_THROWS_MATCHES(
      heatmap_svg(example), Error,
      Message("heatmap: expected attention [1, 3] as there are target and source tokens, got [0, 0]"));
}

TEST_CASE("a heatmap refuses what is no weight and a cell that cannot be seen", "[plot][heatmap]") {
  Translation example = attention_example({"a", "b", "c"}, {"x", "y"});
  example.attention(1, 2) = 3.5F;
  CHECK_THROWS_MATCHES(heatmap_svg(example), Error,
                       Message("heatmap: expected weights from 0 to 1, got 3.5 at [1, 2]; "
                               "attention weights are a softmax over the source"));
  example.attention(1, 2) = std::numeric_limits<float>::quiet_NaN();
  CHECK_THROWS_AS(heatmap_svg(example), Error);
  example.attention(1, 2) = 1.000001F;
  CHECK_NOTHROW(heatmap_svg(example));
  CHECK_THROWS_MATCHES(heatmap_svg(example, {.cell = 2.5}), Error,
                       Message("heatmap: expected a cell of 8 to 200 pixels, got 2.5"));
  CHECK_THROWS_AS(heatmap_svg(example, {.cell = std::numeric_limits<double>::quiet_NaN()}), Error);
}

TEST_CASE("a heatmap is written as a file, and a refused one leaves the old file", "[plot][heatmap]") {
  const bahdanau::test::TemporaryDirectory directory;
  const Translation example = attention_example({"北", "<eos>"}, {"nord", "<eos>"});
  bahdanau::plot::heatmap(directory / "a.svg", example);
  CHECK(bahdanau::test::contents(directory / "a.svg") == heatmap_svg(example));
  CHECK_THROWS_AS(bahdanau::plot::heatmap(directory / "a.svg", Translation{}), Error);
  CHECK(bahdanau::test::contents(directory / "a.svg") == heatmap_svg(example));
  CHECK_THROWS_AS(bahdanau::plot::heatmap(directory / "nowhere/a.svg", example), Error);
}

TEST_CASE("a heatmap of many cells is not a file of many megabytes", "[heatmap]") {
  Translation large;
  large.source = large.target = numbered_words("w", 500);
  large.attention = bahdanau::Array<float, 2>::from_shape({500, 500});
  std::fill(large.attention.begin(), large.attention.end(), 0.0F);
  for (std::size_t i = 0; i < 500; ++i) large.attention(i, i) = 1;
  const std::string svg = heatmap_svg(large);
  CHECK(svg.size() < 500'000);
  CHECK(elements(svg, "title").empty());
  // The page, the bar, and in each row one dark cell with what lies before and after it.
  CHECK(elements(svg, "rect").size() == 2 + 500 * 3 - 2);
}
