// What a sentence looks like before it is cut into tokens, and what is refused.
// Every expected value follows from d2l's preprocess_nmt.
#include <string>

#include <bahdanau/text/normalize.hpp>

#include "support/catch.hpp"

using bahdanau::normalize;
using Catch::Matchers::Message;

TEST_CASE("a space comes before punctuation that has none", "[normalize]") {
  CHECK(normalize("Go.") == "go .");
  CHECK(normalize("Hi, Tom!") == "hi , tom !");
  CHECK(normalize("Va !") == "va !");
  CHECK(normalize("Wait...") == "wait . . .");
  CHECK(normalize("Really?! ") == "really ? ! ");
  CHECK(normalize("it's 3:30; (yes)") == "it's 3:30; (yes)");
}

TEST_CASE("punctuation at the beginning gets no space", "[normalize]") {
  CHECK(normalize(".net") == ".net");
  CHECK(normalize("...") == ". . .");
  CHECK(normalize("").empty());
}

TEST_CASE("no-break spaces become spaces and count as spaces before punctuation", "[normalize][unicode]") {
  CHECK(normalize("Cours\u202f!") == "cours !");
  CHECK(normalize("Cours\u00a0!") == "cours !");
  CHECK(normalize("10\u00a0000\u202f000") == "10 000 000");
}

TEST_CASE("other spaces are left alone", "[normalize][unicode]") {
  CHECK(normalize("a\u3000b\u2009c") == "a\u3000b\u2009c");
  CHECK(normalize("a  b") == "a  b");
}

TEST_CASE("all of Unicode is lower-cased", "[normalize][unicode]") {
  CHECK(normalize("ÉCOLE À ÇA") == "école à ça");
  CHECK(normalize("ΑΒΓ") == "αβγ");
  CHECK(normalize("ПРИВЕТ") == "привет");
  CHECK(normalize("ẞ") == "ß");
  CHECK(normalize("\U00010400") == "\U00010428");  // four bytes: Deseret
  CHECK(normalize("\u212a") == "k");               // the Kelvin sign: three bytes become one
  CHECK(normalize("\u023a") == "\u2c65");          // two bytes become three
  CHECK(normalize("我们试试看！") == "我们试试看！");
}

TEST_CASE("case is kept when asked", "[normalize]") {
  CHECK(normalize("École\u00a0: Go.", false) == "École : Go .");
}

TEST_CASE("control characters become spaces", "[normalize]") {
  using namespace std::string_literals;
  CHECK(normalize("A\tb\x1b[2J\u0085c") == "a b [2j c");
  CHECK(normalize("A\0."s) == "a .");
}

TEST_CASE("text that is not UTF-8 is refused with the byte and its offset", "[normalize][error]") {
  auto refused = [](const std::string& line, const std::string& byte, const std::string& offset) {
    REQUIRE_THROWS_MATCHES(normalize(line), bahdanau::Error,
                           Message("normalize: expected UTF-8, got byte " + byte + " at offset " + offset));
  };
  SECTION("a byte that never occurs") { refused("hello world \xff", "0xff", "12"); }
  SECTION("a sequence that the end cuts off") { refused("caf\xc3", "0xc3", "3"); }
  SECTION("a sequence that another character cuts off") { refused("\xe2\x82z", "0xe2", "0"); }
  SECTION("a continuation without a beginning") { refused("a\x80", "0x80", "1"); }
  SECTION("more bytes than needed") { refused("\xc0\xaf", "0xc0", "0"); }
  SECTION("half of a surrogate pair") { refused("\xed\xa0\x80", "0xed", "0"); }
  SECTION("beyond the last code point") { refused("\xf4\x90\x80\x80", "0xf4", "0"); }
  SECTION("Latin-1, the usual mistake") { refused("le caf\xe9 noir", "0xe9", "6"); }
}
