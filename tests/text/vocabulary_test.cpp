// Which tokens a model knows, in which order, and what is refused.
// The sizes at the end are those of d2l's translation chapter.
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <bahdanau/text/vocabularies.hpp>

#include "support/catch.hpp"
#include "support/data.hpp"

using bahdanau::Token;
using bahdanau::Vocabulary;
using Catch::Matchers::Message;
using Sentence = std::vector<std::string>;
namespace reserved = bahdanau::reserved;

TEST_CASE("the reserved tokens come first and keep their ids", "[vocabulary]") {
  Vocabulary vocabulary = Vocabulary::build({}, 1);
  CHECK(vocabulary.tokens() == Sentence{"<unk>", "<pad>", "<bos>", "<eos>"});
  CHECK(vocabulary.id("<unk>") == reserved::unk);
  CHECK(vocabulary.id("<pad>") == reserved::pad);
  CHECK(vocabulary.id("<bos>") == reserved::bos);
  CHECK(vocabulary.id("<eos>") == reserved::eos);
}

TEST_CASE("frequent tokens come first, and equals as they appeared", "[vocabulary]") {
  std::vector<Sentence> sentences = {{"z", "b", "a"}, {"b", "z", "c"}, {"c", "d", "b"}};
  CHECK(Vocabulary::build(sentences, 1).tokens() ==
        Sentence{"<unk>", "<pad>", "<bos>", "<eos>", "b", "z", "c", "a", "d"});
}

TEST_CASE("tokens seen too seldom are left out", "[vocabulary]") {
  std::vector<Sentence> sentences = {{"z", "b", "a"}, {"b", "z", "c"}, {"c", "d", "b"}};
  CHECK(Vocabulary::build(sentences, 2).tokens() ==
        Sentence{"<unk>", "<pad>", "<bos>", "<eos>", "b", "z", "c"});
  CHECK(Vocabulary::build(sentences, 4).size() == 4);
  CHECK(Vocabulary::build(sentences, 0) == Vocabulary::build(sentences, 1));
}

TEST_CASE("reserved tokens in the text are not counted twice", "[vocabulary]") {
  std::vector<Sentence> sentences = {{"<eos>", "<eos>", "a", "<unk>"}};
  CHECK(Vocabulary::build(sentences, 1).tokens() == Sentence{"<unk>", "<pad>", "<bos>", "<eos>", "a"});
}

TEST_CASE("a token that is not known is encoded as <unk>", "[vocabulary]") {
  Vocabulary vocabulary(Sentence{"<unk>", "<pad>", "<bos>", "<eos>", "il", "est"});
  CHECK(vocabulary.encode({"il", "court", "est"}) == std::vector<Token>{4, reserved::unk, 5});
  CHECK(vocabulary.id("court") == reserved::unk);
  CHECK_FALSE(vocabulary.contains("court"));
  CHECK(vocabulary.contains("est"));
  CHECK(vocabulary.token(5) == "est");
}

TEST_CASE("a vocabulary for plain ids spells them as numbers", "[vocabulary]") {
  Vocabulary vocabulary = Vocabulary::numbered(6);
  CHECK(vocabulary.tokens() == Sentence{"<unk>", "<pad>", "<bos>", "<eos>", "4", "5"});
  CHECK(vocabulary.id("5") == 5);
  CHECK(Vocabulary::numbered(4).size() == 4);
}

TEST_CASE("a copy finds its tokens after the original is gone", "[vocabulary]") {
  auto original = std::make_unique<Vocabulary>(Vocabulary::numbered(100));
  Vocabulary copy = *original;
  original.reset();
  CHECK(copy.id("99") == 99);
  Vocabulary moved = std::move(copy);
  CHECK(moved.id("99") == 99);
}

TEST_CASE("vocabularies are equal if their tokens are, in order", "[vocabulary]") {
  CHECK(Vocabulary::numbered(6) == Vocabulary(Sentence{"<unk>", "<pad>", "<bos>", "<eos>", "4", "5"}));
  CHECK_FALSE(Vocabulary::numbered(6) == Vocabulary(Sentence{"<unk>", "<pad>", "<bos>", "<eos>", "5", "4"}));
  bahdanau::Vocabularies both{Vocabulary::numbered(6), Vocabulary::numbered(7), {}};
  CHECK(both == bahdanau::Vocabularies{Vocabulary::numbered(6), Vocabulary::numbered(7), {}});
  CHECK_FALSE(both == bahdanau::Vocabularies{Vocabulary::numbered(6), Vocabulary::numbered(6), {}});
  CHECK_FALSE(both == bahdanau::Vocabularies{both.source, both.target, {.max_length = 20}});
}

TEST_CASE("a list of tokens that is no vocabulary is refused", "[vocabulary][error]") {
  auto refused = [](Sentence tokens, const std::string& message) {
    REQUIRE_THROWS_MATCHES(Vocabulary(std::move(tokens)), bahdanau::Error, Message(message));
  };
  SECTION("a token twice") {
    refused({"<unk>", "<pad>", "<bos>", "<eos>", "a", "b", "a"},
            R"(Vocabulary: expected distinct tokens, got "a" as 4 and 6)");
  }
  SECTION("a reserved token again") {
    refused({"<unk>", "<pad>", "<bos>", "<eos>", "<pad>"},
            R"(Vocabulary: expected distinct tokens, got "<pad>" as 1 and 4)");
  }
  SECTION("the reserved ones in another order") {
    refused(
        {"<pad>", "<unk>", "<bos>", "<eos>"},
        R"(Vocabulary: expected token 0 to be "<unk>", got "<pad>"; the first four are <unk> <pad> <bos> <eos>)");
  }
  SECTION("too few tokens") {
    refused({"<unk>", "<pad>"},
            "Vocabulary: expected at least 4 tokens, got 2; the first four are <unk> <pad> <bos> <eos>");
  }
  SECTION("a token that no file could hold") {
    refused({"<unk>", "<pad>", "<bos>", "<eos>", "caf\xe9"},
            "Vocabulary: token 4: expected UTF-8, got byte 0xe9 at offset 3");
  }
}

TEST_CASE("a numbered vocabulary has room for the reserved tokens", "[vocabulary][error]") {
  REQUIRE_THROWS_MATCHES(
      Vocabulary::numbered(3), bahdanau::Error,
      Message("Vocabulary: expected at least 4 tokens, got 3; the first four are <unk> <pad> <bos> <eos>"));
  REQUIRE_THROWS_MATCHES(Vocabulary::numbered(std::size_t{1} << 31U), bahdanau::Error,
                         Message("Vocabulary: expected at most 2147483647 tokens, got 2147483648"));
}

TEST_CASE("an id outside the vocabulary is refused", "[vocabulary][error]") {
  Vocabulary vocabulary = Vocabulary::numbered(6);
  for (Token id : {-1, 6, 1000}) {
    REQUIRE_THROWS_MATCHES(vocabulary.token(id), bahdanau::Error,
                           Message("Vocabulary: expected an id from 0 to 5, got " + std::to_string(id)));
  }
}

TEST_CASE("the first 600 pairs of fra.txt give d2l's vocabularies", "[vocabulary][data]") {
  const auto path = bahdanau::test::french_pairs();
  if (path.empty()) return;
  std::ifstream file(path);
  REQUIRE(file);
  std::vector<Sentence> english, french;
  for (std::string line; english.size() < 600 && std::getline(file, line);) {
    std::size_t tab = line.find('\t');
    REQUIRE(tab != line.npos);
    english.push_back(bahdanau::tokenize(line.substr(0, tab), {}));
    french.push_back(bahdanau::tokenize(line.substr(tab + 1), {}));
  }
  REQUIRE(english.size() == 600);
  CHECK(english.front() == Sentence{"go", "."});
  CHECK(french.front() == Sentence{"va", "!"});
  CHECK(Vocabulary::build(english, 2).size() == 184);
  CHECK(Vocabulary::build(french, 2).size() == 201);
}

TEST_CASE("a token with control characters is refused", "[vocabulary][error]") {
  const auto refuses = [](const std::string& token, const std::string& quoted) {
    REQUIRE_THROWS_MATCHES(Vocabulary({"<unk>", "<pad>", "<bos>", "<eos>", token}), bahdanau::Error,
                           Message("Vocabulary: token 4: expected no control characters, got " + quoted));
  };
  refuses("a\nb", R"("a\x0ab")");
  refuses("\x1b[2J", R"("\x1b[2J")");
  refuses("\x7f", R"("\x7f")");
  refuses("\u009b", R"("\xc2\x9b")");
  CHECK_NOTHROW(Vocabulary({"<unk>", "<pad>", "<bos>", "<eos>", "\u00e9\u00a0"}));
}

TEST_CASE("a copy of a token counter outlives the one it was made from, and counts by itself",
          "[vocabulary]") {
  const auto counted = [] {
    bahdanau::TokenCounter counter;
    for (int i = 0; i < 300; ++i)
      counter.number("a token too long for its string object, number " + std::to_string(i));
    return counter;
  };
  const auto expect = [](const bahdanau::TokenCounter& counter) {
    REQUIRE(counter.size() == 300);
    for (std::size_t i = 0; i < 300; ++i) {
      CHECK(counter.token(i) == "a token too long for its string object, number " + std::to_string(i));
      CHECK(counter.count(i) == 1);
    }
  };
  auto original = std::make_unique<bahdanau::TokenCounter>(counted());
  bahdanau::TokenCounter copy = *original, assigned;
  assigned.number("something else");
  assigned = *original;
  for (std::size_t i = 0; i < 300; ++i) CHECK(&copy.token(i) != &original->token(i));
  original->number("one more");
  CHECK(original->size() == 301);
  original.reset();
  expect(copy);
  expect(assigned);

  bahdanau::TokenCounter moved = std::move(copy);
  expect(moved);
  CHECK(copy.size() == 0);  // NOLINT(bugprone-use-after-move): it promises to be empty
  CHECK(copy.number("first") == 0);
  expect(moved);
  copy = std::move(moved);
  expect(copy);
  copy = *&copy;
  expect(copy);
  CHECK(copy.number("another") == 300);
}
