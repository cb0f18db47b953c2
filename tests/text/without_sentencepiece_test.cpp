// The tool, built without SentencePiece and asked for subwords: it says so, and how to have them.
#include <string>
#include <vector>

#include "../examples/cli/without_sentencepiece/subwords.cpp"
#include "support/catch.hpp"
#include "support/message.hpp"

TEST_CASE("a tool without SentencePiece refuses to learn and to read subwords", "[subwords][cli][error]") {
  const std::string said =
      "--tokens subwords: expected a tool that was built with SentencePiece, got one without; install the "
      "Debian package libsentencepiece-dev and build it again";
  CHECK(bahdanau::test::message_of([] { cli::learn_subwords({"a b"}, 300, 1, true); }) == said);
  CHECK(bahdanau::test::message_of([] { cli::read_subwords("x.model"); }) == said);
}
