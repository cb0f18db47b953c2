// Sentence pairs from lines: what is harmless, what is refused and with which words, and how fast it is.
#include <cstddef>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <bahdanau/text/pairs.hpp>

#include "support/catch.hpp"
#include "support/file_bytes.hpp"
#include "support/temporary_directory.hpp"

using bahdanau::BadLines;
using bahdanau::PairReader;
using bahdanau::SentencePair;
using Catch::Matchers::Message;
using Pairs = std::vector<SentencePair>;

namespace {

Pairs rest(PairReader& reader) {
  Pairs pairs;
  for (SentencePair pair; reader.next(pair);) pairs.push_back(pair);
  return pairs;
}

Pairs parse(const std::string& text) {
  std::istringstream stream(text);
  PairReader reader(stream, "pairs");
  return rest(reader);
}

}  // namespace

TEST_CASE("a line is a source, a tab and a target; further columns are ignored", "[pairs]") {
  CHECK(parse("Go.\tVa !\nHi.\tSalut.\tCC-BY 2.0\tmore\n") == Pairs{{"Go.", "Va !"}, {"Hi.", "Salut."}});
  CHECK(parse(" a  b \t c ") == Pairs{{" a  b ", " c "}});
  CHECK(parse("a\tb\t") == Pairs{{"a", "b"}});
  CHECK(parse("我们\u00a0试\t\U0001f600\n") == Pairs{{"我们\u00a0试", "\U0001f600"}});
}

TEST_CASE("the end of the last line may be missing", "[pairs]") {
  CHECK(parse("a\tb\nc\td") == Pairs{{"a", "b"}, {"c", "d"}});
  CHECK(parse("a\tb\nc\td\r") == Pairs{{"a", "b"}, {"c", "d"}});
  CHECK(parse("").empty());
}

TEST_CASE("CRLF and a byte-order mark are harmless", "[pairs]") {
  CHECK(parse("\xEF\xBB\xBF"
              "a\tb\r\nc\td\tmore\r\n") == Pairs{{"a", "b"}, {"c", "d"}});
  CHECK(parse("\xEF\xBB\xBF").size() == 0);
  // Anywhere else they are text.
  CHECK(parse("a\r\tb\nc\t\xEF\xBB\xBF"
              "d\n") == Pairs{{"a\r", "b"},
                              {"c",
                               "\xEF\xBB\xBF"
                               "d"}});
}

TEST_CASE("the reader knows the line that it read last", "[pairs]") {
  std::istringstream stream("a\tb\nc\td\n");
  PairReader reader(stream, "pairs");
  SentencePair pair;
  CHECK(reader.line() == 0);
  CHECK(reader.next(pair));
  CHECK(reader.line() == 1);
  CHECK(reader.next(pair));
  CHECK(reader.where() == "pairs:2");
  CHECK_FALSE(reader.next(pair));
  CHECK_FALSE(reader.next(pair));
  CHECK(reader.line() == 2);
  CHECK(pair == SentencePair{"c", "d"});
}

TEST_CASE("what is no pair is refused with path and line", "[pairs][error]") {
  const auto refused = [](const std::string& line, const std::string& message) {
    CAPTURE(line);
    REQUIRE_THROWS_MATCHES(parse("a\tb\n" + line + "\nc\td\n"), bahdanau::Error,
                           Message("pairs:2: " + message));
  };
  refused("no tab", "expected a source, a tab and a target, got a line without a tab");
  refused("", "expected a source, a tab and a target, got an empty line");
  refused("\r", "expected a source, a tab and a target, got an empty line");
  refused("\tb", "expected a source sentence, got an empty one");
  refused("  \tb", "expected a source sentence, got an empty one");
  refused("a\t", "expected a target sentence, got an empty one");
  refused("a\t\r", "expected a target sentence, got an empty one");
  refused("a\t\tb", "expected a target sentence, got an empty one");
  refused("a\t\u00a0 \u202f", "expected a target sentence, got an empty one");
  refused("a\xC3\tb", "expected UTF-8, got byte 0xc3 at offset 1");
  refused("a\tb\xED\xA0\x80", "expected UTF-8, got byte 0xed at offset 3");  // half a surrogate pair
}

TEST_CASE("ignored columns may hold any bytes", "[pairs]") {
  CHECK(parse("a\tb\t\xFF\xFE\n") == Pairs{{"a", "b"}});
}

TEST_CASE("a line without an end is refused, not taken into memory", "[pairs][error]") {
  const std::size_t longest = PairReader::longest_line;
  const std::string fits = "a\t" + std::string(longest - 2, 'b'), beyond = fits + "b";
  CHECK(parse(fits).at(0).target.size() == longest - 2);
  CHECK(parse(fits + "\nc\td\n").size() == 2);
  const auto refused = Message("pairs:1: expected a line of at most 1048576 bytes, got a longer one");
  REQUIRE_THROWS_MATCHES(parse(beyond), bahdanau::Error, refused);
  REQUIRE_THROWS_MATCHES(parse(beyond + beyond + "\nc\td\n"), bahdanau::Error, refused);
}

TEST_CASE("after a refused line the next one can be read, and the pair is as it was", "[pairs][error]") {
  std::istringstream stream("a\tb\nc\t\n" + std::string(PairReader::longest_line + 1, 'x') + "\nd\te\n");
  PairReader reader(stream, "pairs");
  SentencePair pair;
  CHECK(reader.next(pair));
  CHECK_THROWS_AS(reader.next(pair), bahdanau::Error);
  CHECK(pair == SentencePair{"a", "b"});
  CHECK_THROWS_AS(reader.next(pair), bahdanau::Error);
  CHECK(reader.next(pair));
  CHECK(pair == SentencePair{"d", "e"});
  CHECK(reader.line() == 4);
}

TEST_CASE("bad lines are skipped and counted on request", "[pairs]") {
  std::istringstream stream("a\tb\n\nno tab\nc\t\n\xFF\tx\nd\te\n");
  PairReader reader(stream, "pairs", BadLines::skip);
  CHECK(rest(reader) == Pairs{{"a", "b"}, {"d", "e"}});
  CHECK(reader.skipped() == 4);
  CHECK(reader.line() == 6);
}

TEST_CASE("files are opened by path, and named when they cannot be", "[pairs][error]") {
  const bahdanau::test::TemporaryDirectory files;
  bahdanau::test::put(files / "pairs.tsv", "a\tb\nbad\n");
  PairReader reader(files / "pairs.tsv");
  PairReader moved = std::move(reader);
  SentencePair pair;
  CHECK(moved.next(pair));
  REQUIRE_THROWS_MATCHES(moved.next(pair), bahdanau::Error,
                         Message((files / "pairs.tsv").string() +
                                 ":2: expected a source, a tab and a target, got a line without a tab"));
  const std::string missing = (files / "missing").string();
  REQUIRE_THROWS_MATCHES(
      PairReader(missing), bahdanau::Error,
      Message(missing + ": expected a file that can be opened, got \"No such file or directory\""));
  REQUIRE_THROWS_MATCHES(PairReader(files.path()), bahdanau::Error,
                         Message(files.path().string() + ": expected a file, got a directory"));
}

TEST_CASE("a stream that breaks is an error, even where bad lines are skipped", "[pairs][error]") {
  struct Breaks : std::stringbuf {
    int_type underflow() override { throw 1; }
  } buffer;
  std::istream stream(&buffer);
  PairReader reader(stream, "pairs", BadLines::skip);
  SentencePair pair;
  REQUIRE_THROWS_MATCHES(reader.next(pair), bahdanau::Error,
                         Message("pairs: expected text that can be read, got an error after line 0"));
  REQUIRE_THROWS_MATCHES(
      PairReader(stream, "pairs"), bahdanau::Error,
      Message("pairs: expected text that can be read, got a stream that has failed already"));
}
