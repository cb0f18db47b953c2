// The one form of all messages: `where: expected X, got Y; hint`.
// Strings from outside stand in quotes, on one line, cut where they are long.
#include <stdexcept>
#include <string>

#include <bahdanau/core/error.hpp>
#include <bahdanau/core/quote.hpp>

#include "support/catch.hpp"

using bahdanau::Error;
using bahdanau::fail;
using bahdanau::detail::quote;
using bahdanau::detail::require_equal;
using Catch::Matchers::Message;

TEST_CASE("a message says where, what was expected and what came", "[error]") {
  CHECK_THROWS_MATCHES(fail("linear", "x of width 3", "[2, 4]"), Error,
                       Message("linear: expected x of width 3, got [2, 4]"));
}

TEST_CASE("a hint stands at the end of a message", "[error]") {
  CHECK_THROWS_MATCHES(fail("gemm", "extents below 2^31", "4294967296", "use smaller batches"), Error,
                       Message("gemm: expected extents below 2^31, got 4294967296; use smaller batches"));
}

TEST_CASE("an error is a runtime_error to those who catch the standard ones", "[error]") {
  CHECK_THROWS_AS(fail("here", "this", "that"), std::runtime_error);
}

TEST_CASE("numbers of different signedness are compared by value", "[error]") {
  CHECK_NOTHROW(require_equal("here", "rows:", 3U, 3));
  CHECK_THROWS_MATCHES(require_equal("here", "rows:", 3, 4U), Error,
                       Message("here: expected rows: 3, got 4"));
  // As unsigned numbers both would be 4294967295.
  CHECK_THROWS_MATCHES(require_equal("here", "rows:", 4294967295U, -1), Error,
                       Message("here: expected rows: 4294967295, got -1"));
}

TEST_CASE("a string from outside is quoted on one line", "[error]") {
  CHECK(quote("plain") == "\"plain\"");
  CHECK(quote("") == "\"\"");
  CHECK(quote("a\"b\\c") == R"("a\"b\\c")");
  CHECK(quote("line\nnext\x1b[31m\x7f") == R"("line\x0anext\x1b[31m\x7f")");
  CHECK(quote("été") == "\"été\"");
  CHECK(quote("\xC2\x85") == R"("\xc2\x85")");
}

TEST_CASE("bytes that are not UTF-8 never reach a message", "[error]") {
  CHECK(quote("a\xFF"
              "b") == R"("a\xffb")");
  CHECK(quote("cut \xE4\xBD") == R"("cut \xe4\xbd")");
  CHECK(quote("\xED\xA0\x80") == R"("\xed\xa0\x80")");  // half of a surrogate pair
  CHECK(quote("\xC0\x80") == R"("\xc0\x80")");          // a zero in two bytes
  // Nothing to go back to: still cut, near the same place.
  std::string expected = "\"";
  for (int i = 0; i < 76; ++i) expected += R"(\x80)";
  CHECK(quote(std::string(1000, '\x80')) == expected.append("...\""));
}

TEST_CASE("a long string is cut between code points", "[error]") {
  // Appended to: g++ 12 warns of sums of strings without a reason.
  const auto in_quotes = [](const std::string& text, const char* end) {
    return std::string("\"").append(text).append(end);
  };
  const std::string fits(80, 'a');
  CHECK(quote(fits) == in_quotes(fits, "\""));
  CHECK(quote(std::string(81, 'a')) == in_quotes(fits, "...\""));
  // The two bytes of é would stand at places 79 and 80: it is left out as a whole.
  std::string name(79, 'a');
  const std::string quoted = in_quotes(name, "...\"");
  CHECK(quote(name.append("été")) == quoted);
}
