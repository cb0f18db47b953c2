// The JSON reader against RFC 8259: what it accepts, what it refuses and where, and what the values are.
// The writer beside it: what is written is read back, and nlohmann's reader agrees.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <bahdanau/io/json.hpp>
#include <bahdanau/io/json_value.hpp>
#include <bahdanau/io/json_writer.hpp>

#include "support/catch.hpp"
#include "support/message.hpp"

using namespace bahdanau::detail;
using bahdanau::test::message_of;
using namespace std::string_literals;

namespace {

// Goes through a text to its end.
void read_all(std::string_view text, unsigned max_depth = 64) {
  JsonReader reader("text", text, max_depth, "JSON");
  while (reader.next() != JsonEvent::end) continue;
}

bool accepts(std::string_view text) {
  try {
    read_all(text);
    return true;
  } catch (const bahdanau::Error&) {
    return false;
  }
}

// Where the reader finds fault, counted from 1; 0 if it does not.
std::string fault(std::string_view text) {
  const std::string message = message_of([&] { read_all(text); });
  const std::string before = "text: expected JSON, got a syntax error at its byte ";
  return message.starts_with(before) ? message.substr(before.size()) : message;
}

JsonReader at_value(std::string_view text) {
  JsonReader reader("text", text, 4);
  reader.next();
  return reader;
}

std::string string_in(const std::string& text) {
  JsonReader reader = at_value(text);
  REQUIRE(reader.event() == JsonEvent::string);
  return std::string(reader.view());
}

}  // namespace

TEST_CASE("what RFC 8259 allows is accepted", "[json]") {
  // clang-format off
  const std::vector<std::string> texts = {
      "null"s, "true"s, "false"s, "0"s, "-0"s, "10"s, "-1"s, "1.5"s, "0.0"s, "1e5"s, "1E+5"s, "1e-5"s,
      "-0.1e00"s, "\"\""s, "\"a\""s, "[]"s, "{}"s, " \t\n\r[ \n] "s, "[1,2]"s, "[ 1 , [ ] , { } ]"s,
      R"({"a":1})"s, R"({ "a" : [ 1 , { "b" : null } ] , "" : "" })"s, R"({"a":1,"b":{"a":2}})"s,
      "\"\x7f\""s, "\"é 我 \xf0\x9f\x98\x80 \xef\xbf\xbf \xf4\x8f\xbf\xbf\""s, R"("\u0000")"s,
      R"("\uD834\uDD1E \udbff\uDFFF")"s, "1e-320"s, "1.7976931348623157e308"s, "0e999"s, "0.000e-999"s};
  // clang-format on
  for (const std::string& text : texts) {
    INFO(text);
    CHECK(accepts(text));
    CHECK(nlohmann::json::accept(text));
  }
}

TEST_CASE("what RFC 8259 forbids is refused where it stands", "[json][error]") {
  // clang-format off
  const std::vector<std::pair<std::string, std::string>> faults = {
      // nothing, too little, too much
      {"", "1"}, {" ", "2"}, {"[", "2"}, {"{", "2"}, {"[1", "3"}, {"[1,", "4"}, {R"({"a")", "5"},
      {R"({"a":)", "6"}, {R"({"a":1)", "7"}, {"[]]", "3"}, {"{}}", "3"}, {"1 2", "3"}, {"[] x", "4"},
      {"nul", "4"}, {"tru", "4"}, {"nullx", "5"}, {"True", "1"}, {"NaN", "1"}, {"Infinity", "1"},
      {"-Infinity", "2"},
      // commas, colons, brackets, comments
      {"[1,]", "4"}, {"[,1]", "2"}, {"[1,,2]", "4"}, {"[1 2]", "4"}, {"[1}", "3"}, {R"({"a":1])", "7"},
      {R"({"a":1,})", "8"}, {R"({,"a":1})", "2"}, {R"({"a" 1})", "6"}, {R"({"a",1})", "5"}, {"{1:2}", "2"},
      {"{a:1}", "2"}, {"{'a':1}", "2"}, {R"({"a":})", "6"}, {"[1:2]", "3"}, {"/**/1", "1"}, {"1//", "2"},
      {"[1;2]", "3"}, {":", "1"}, {",", "1"}, {"]", "1"}, {"}", "1"},
      // numbers
      {"-", "2"}, {"+1", "1"}, {"01", "2"}, {"-01", "3"}, {"1.", "3"}, {".5", "1"}, {"1.e5", "3"},
      {"1e", "3"}, {"1e+", "4"}, {"1e5.5", "4"}, {"0x10", "2"}, {"1_000", "2"}, {"- 1", "2"},
      {"1e999", "5"}, {"-1e999", "6"}, {"[1e-999]", "7"},
      // strings
      {"\"", "2"}, {"\"a", "3"}, {"'a'", "1"}, {"\"\n\"", "2"}, {"\"\t\"", "2"}, {"\"\x1f\"", "2"},
      {R"("\)", "3"}, {R"("\")", "4"}, {R"("\a")", "3"}, {R"("\'")", "3"}, {R"("\x41")", "3"},
      {R"("\U0041")", "3"}, {R"("\u")", "4"}, {R"("\u004")", "7"}, {R"("\u00g0")", "6"},
      {R"("\u+041")", "4"}, {R"("\u004`")", "7"},
      // surrogates alone, reversed, and doubled
      {R"("\ud800")", "8"}, {R"("\udc00")", "8"}, {R"("\ud800x")", "8"}, {R"("\ud800\n")", "9"},
      {R"("\ud800\u0041")", "14"}, {R"("\ud800\ud800")", "14"}, {R"("\ud83d\u")", "10"},
      // UTF-8: alone, cut, too long, surrogates, beyond the last
      {"\"\x80\"", "2"}, {"\"\xff\"", "2"}, {"\"\xc3\"", "2"}, {"\"\xe6\x88\"", "2"}, {"\"\xc0\xaf\"", "2"},
      {"\"\xe0\x80\xaf\"", "2"}, {"\"\xed\xa0\x80\"", "2"}, {"\"\xf4\x90\x80\x80\"", "2"},
      {"\"a\\n\xff\"", "5"}, {"\xef\xbb\xbf[]", "1"}, {"[\xc2\xa0]", "2"}, {"\xff", "1"}};
  // clang-format on
  for (const auto& [text, byte] : faults) {
    INFO(text);
    CHECK(fault(text) == byte);
  }
  const std::string zero = "text: expected JSON, got a zero at its byte ";
  CHECK(fault("[]\0"s) == zero + "3");
  CHECK(fault("\0[]"s) == zero + "1");
  CHECK(fault("\"\0\""s) == zero + "2");
}

TEST_CASE("every escape means its character", "[json]") {
  CHECK(string_in(R"("\" \\ \/ \b \f \n \r \t")") == "\" \\ / \b \f \n \r \t");
  CHECK(string_in(R"("a\u0000b")") == "a\0b"s);
  CHECK(string_in(R"("\u0041\u00e9\u00E9\u6211\uffff")") == "Aéé我\xef\xbf\xbf");
  CHECK(string_in(R"("\ud834\udd1e.\uD800\uDC00.\uDBFF\uDFFF")") ==
        "\xf0\x9d\x84\x9e.\xf0\x90\x80\x80.\xf4\x8f\xbf\xbf");
  CHECK(string_in(R"("plain")") == "plain");
  CHECK(string_in(R"("before\nafter")") == "before\nafter");
}

TEST_CASE("numbers are kept apart, and exact up to their limits", "[json]") {
  const auto natural = [](std::string_view text) {
    JsonReader reader = at_value(text);
    CHECK(reader.event() == JsonEvent::natural);
    return reader.natural();
  };
  CHECK(natural("0") == 0);
  CHECK(natural("18446744073709551615") == std::numeric_limits<std::uint64_t>::max());
  const auto kind = [](std::string_view text) { return at_value(text).event(); };
  CHECK(kind("18446744073709551616") == JsonEvent::real);
  CHECK(kind("-0") == JsonEvent::negative);
  CHECK(kind("-9223372036854775808") == JsonEvent::negative);
  CHECK(kind("-9223372036854775809") == JsonEvent::real);
  CHECK(kind("1.0") == JsonEvent::real);
  CHECK(kind("1e0") == JsonEvent::real);
  const auto real = [](std::string_view text) { return at_value(text).real(); };
  CHECK(real("0.1") == 0.1);
  CHECK(real("1") == 1.0);
  CHECK(std::signbit(real("-0")));
  CHECK(real("1.7976931348623157e+308") == std::numeric_limits<double>::max());
  CHECK(real("-5e-324") == -std::numeric_limits<double>::denorm_min());
  CHECK(real("1" + std::string(300, '0')) == 1e300);
  CHECK(real("0." + std::string(100'000, '0') + "1e100001") == 1.0);
}

TEST_CASE("every event of a text, in order", "[json]") {
  JsonReader reader("text", R"( {"a":[1,-2,3.5,"s",true,null,{}],"b\n":[]} )", 3);
  using E = JsonEvent;
  for (const E event :
       {E::object, E::key, E::array, E::natural, E::negative, E::real, E::string, E::boolean, E::null,
        E::object, E::object_end, E::array_end, E::key, E::array, E::array_end, E::object_end}) {
    CHECK(reader.next() == event);
    if (event == E::key) CHECK((reader.view() == "a" || reader.view() == "b\n"));
  }
  CHECK(reader.next() == E::end);
  CHECK(reader.next() == E::end);
}

TEST_CASE("nesting is allowed up to the limit and no further", "[json][error]") {
  const auto nested = [](std::size_t depth, const std::string& open, const std::string& close) {
    std::string text;
    for (std::size_t i = 0; i < depth; ++i) text += open;
    text += "1";
    for (std::size_t i = 0; i < depth; ++i) text += close;
    return text;
  };
  for (const unsigned limit : {1U, 4U, 63U, 64U}) {
    CHECK_NOTHROW(read_all(nested(limit, "[", "]"), limit));
    CHECK_NOTHROW(read_all(nested(limit, "{\"a\":", "}"), limit));
    const std::string message = "text: expected JSON at most " + std::to_string(limit) + " deep, got deeper";
    CHECK(message_of([&] { read_all(nested(limit + 1, "[", "]"), limit); }) == message);
    CHECK(message_of([&] { read_all(nested(100'000, "{\"a\":", "}"), limit); }) == message);
  }
}

TEST_CASE("a text that is cut anywhere, or has a byte changed, is judged as nlohmann judges it", "[json]") {
  const std::string text =
      R"({"é":[0,-12,3.5e+2,true,false,null],"\u00e9\ud834\udd1e\\":{"我":"a\"b","c":[[],{}]}, "" : 10 })";
  REQUIRE(accepts(text));
  for (std::size_t size = 0; size < text.size(); ++size) {
    INFO(size);
    CHECK_FALSE(accepts(text.substr(0, size)));
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    for (int byte = 1; byte < 256; ++byte) {
      std::string changed = text;
      changed[i] = static_cast<char>(byte);
      if (accepts(changed) != nlohmann::json::accept(changed)) FAIL(changed);
    }
  }
}

TEST_CASE("values of another kind, and keys that do not fit, are refused with their place", "[json][error]") {
  const auto said = [](const std::string& text) {
    return message_of([&] {
      JsonValues in("FILE", text, 4);
      in.object({{"name", "a string", [&] { in.string(); }},
                 {"size", "a number", [&] { in.whole(1, 9); }},
                 {"rate", "a number", [&] { in.number(); }, false},
                 {"flag", "true or false", [&] { in.boolean(); }, false},
                 {"list", "an array", [&] { in.array("a list", [&](std::size_t) { in.number(); }); }, false},
                 {"inner", "an object",
                  [&] {
                    in.object({{"x", "a number", [&] { in.number(); }}});
                  },
                  false}});
      in.finish();
    });
  };
  const std::string nothing = "nothing was thrown";
  CHECK(said(R"({"name":"n","size":9,"rate":-1,"flag":false,"list":[1,2.5],"inner":{"x":1e5}} )") == nothing);
  CHECK(said(R"({"size":1,"name":""})") == nothing);
  CHECK(said("[]") == "FILE: expected a JSON object, got an array");
  CHECK(said(R"({"name":"n"})") == R"(FILE: expected "size": a number, got none)");
  CHECK(said(R"({"name":1,"size":1})") == "FILE.name: expected a string, got 1");
  CHECK(said(R"({"name":"n","size":10})") == "FILE.size: expected a whole number from 1 to 9, got 10");
  CHECK(said(R"({"name":"n","size":-1})") == "FILE.size: expected a whole number from 1 to 9, got -1");
  CHECK(said(R"({"name":"n","size":1.0})") == R"(FILE.size: expected a whole number from 1 to 9, got "1.0")");
  CHECK(said(R"({"name":"n","size":1,"flag":null})") == "FILE.flag: expected true or false, got null");
  CHECK(said(R"({"name":"n","size":1,"list":[true]})") == "FILE.list: expected a number, got a boolean");
  CHECK(said(R"({"inner":{"x":{}}})") == "FILE.inner.x: expected a number, got an object");
  CHECK(said(R"({"inner":{}})") == R"(FILE.inner: expected "x": a number, got none)");
  CHECK(said(R"({"name":"n","\u006eame":"n"})") == R"(FILE: expected distinct keys, got "name" twice)");
  CHECK(said(R"({"nam":"n"})") ==
        R"(FILE: expected only the keys name, size, rate, flag, list, inner, got "nam")");
  // What is no JSON at all is said first.
  CHECK(said(R"({"name":1,)") == R"(FILE: expected JSON, got "{\"name\":1,"; a syntax error at its byte 11)");
  CHECK(said(R"({"name":"n","size":1} x)").ends_with("; a syntax error at its byte 23"));
}

TEST_CASE("what is written is read back", "[json]") {
  std::string controls;
  for (char c = 1; c < 0x21; ++c) controls += c;
  for (const std::string& text : {""s, "a"s, "\"\\/"s, controls + '\0', "été 我们 \xf0\x9f\x98\x80\x7f"s}) {
    std::string out;
    append_json(out, text);
    CHECK(string_in(out) == text);
    CHECK(nlohmann::json::parse(out) == text);
  }
  const auto written = [](auto value) { return JsonArray().add(value).text(); };
  for (const double value :
       {0.0, -0.0, 0.1, 1e22, -1.5e-320, std::numeric_limits<double>::max(), 1.0 / 3.0}) {
    const std::string text = written(value);
    const double back = at_value(std::string_view(text).substr(1)).real();
    CHECK(back == value);
    CHECK(std::signbit(back) == std::signbit(value));
  }
  CHECK(written(0.1F) == "[0.1]");
  CHECK(written(std::numeric_limits<double>::infinity()) == "[null]");
  CHECK(written(std::nan("")) == "[null]");
  CHECK(written(std::numeric_limits<std::uint64_t>::max()) == "[18446744073709551615]");
  CHECK(written(true) == "[true]");
  CHECK(JsonArray().text() == "[]");
  CHECK(JsonObject().text() == "{}");
  CHECK(JsonObject().add("a", JsonArray().add(1).add("x")).add("b\"", JsonObject().add("c", -2)).text() ==
        R"({"a":[1,"x"],"b\"":{"c":-2}})");
}
