// What tokens look like in a picture, how wide they are taken to be, and how they stand in XML.
// Widths in a terminal follow from Unicode's East Asian Width and general categories.
#include <cstddef>
#include <string>
#include <string_view>

#include <bahdanau/plot/label.hpp>
#include <bahdanau/plot/svg.hpp>

#include "support/catch.hpp"

using bahdanau::detail::columns_of;
using bahdanau::detail::ems_of;
using bahdanau::detail::escape_xml;
using bahdanau::detail::visible;

namespace {

std::string elided(std::string_view text, std::size_t limit) {
  return bahdanau::detail::elide(text, limit, [](utf8proc_int32_t value) { return columns_of(value); });
}

}  // namespace

TEST_CASE("ordinary tokens are shown as they are", "[plot][label]") {
  for (const char* token : {"calme", "<eos>", "d'accord", "très", "北京", "e\u0301te\u0301", "😀", ""}) {
    CHECK(visible(token) == token);
  }
}

TEST_CASE("what cannot be seen is shown", "[plot][label]") {
  CHECK(visible("a\tb") == "a\\x09b");
  CHECK(visible("\x1b[31m") == "\\x1b[31m");
  CHECK(visible("\x7f") == "\\x7f");
  CHECK(visible(std::string_view("\0", 1)) == "\\x00");
  CHECK(visible("\u0085\u2028\uffff") == "\ufffd\ufffd\ufffd");
  CHECK(visible("\u0301") == "\u25cc\u0301");
}

TEST_CASE("what would turn the text around it is taken out", "[plot][label]") {
  CHECK(visible("a\u202eb\u2066") == "a\ufffdb\ufffd");
  CHECK(visible("\u200ea\u200fb\u061c") == "\ufffda\ufffdb\ufffd");
  CHECK(visible("a\u200db") == "a\u200db");  // joins letters, and is part of emoji
}

TEST_CASE("bytes that are not UTF-8 become replacement characters", "[plot][label]") {
  CHECK(visible("a\xff") == "a\ufffd");
  CHECK(visible("\xc3") == "\ufffd");
  CHECK(visible("\xed\xa0\x80") == "\ufffd\ufffd\ufffd");
}

TEST_CASE("columns in a terminal count accents and wide characters right", "[plot][label]") {
  CHECK(columns_of("calme") == 5);
  CHECK(columns_of("été") == 3);
  CHECK(columns_of("e\u0301te\u0301") == 3);
  CHECK(columns_of("北京。") == 6);
  CHECK(columns_of("Ａ") == 2);
  CHECK(columns_of("ﾊ") == 1);
  CHECK(columns_of("") == 0);
}

TEST_CASE("the estimated width of text knows narrow, wide and combining characters", "[plot][label]") {
  CHECK(ems_of("ill") < ems_of("mmm") / 2);
  CHECK(ems_of("北京") == 2.0);
  CHECK(ems_of("e\u0301") == ems_of("e"));
  CHECK(ems_of("ab") == ems_of("a") + ems_of("b"));
}

TEST_CASE("a text that is too long ends with an ellipsis and fits", "[plot][label]") {
  CHECK(elided("calme", 5) == "calme");
  CHECK(elided("calmes", 5) == "calm…");
  CHECK(elided("北京北京", 6) == "北京…");
  CHECK(elided("e\u0301te\u0301s", 3) == "e\u0301t…");
  CHECK(elided("北", 1) == "…");
}

TEST_CASE("markup and quotes are escaped", "[plot][svg]") {
  CHECK(escape_xml("<a b=\"c\" d='e'>&amp;") == "&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;amp;");
  CHECK(escape_xml("été 北京") == "été 北京");
  CHECK(escape_xml("\x01<") == "\\x01&lt;");
}

TEST_CASE("coordinates are short and never negative zero", "[plot][svg]") {
  using bahdanau::detail::svg_number;
  CHECK(svg_number(0) == "0");
  CHECK(svg_number(-0.001) == "0");
  CHECK(svg_number(100) == "100");
  CHECK(svg_number(2.5) == "2.5");
  CHECK(svg_number(-1.0 / 3) == "-0.33");
  CHECK(svg_number(1234567.891) == "1234567.89");
}
