// The three ways of cutting a sentence, and of putting it together again.
// Words follow d2l; characters serve scripts without spaces; none touches nothing.
#include <string>
#include <vector>

#include <bahdanau/text/tokenize.hpp>

#include "support/catch.hpp"

using bahdanau::detokenize;
using bahdanau::tokenize;
using bahdanau::Tokens;
using Catch::Matchers::Message;
using Sentence = std::vector<std::string>;

TEST_CASE("words are normalised and split on spaces", "[tokenize]") {
  CHECK(tokenize("Go.", {}) == Sentence{"go", "."});
  CHECK(tokenize("He's calm, I think!", {}) == Sentence{"he's", "calm", ",", "i", "think", "!"});
  CHECK(tokenize("Il\u202fest  calme.", {}) == Sentence{"il", "est", "calme", "."});
  CHECK(tokenize("Tom.", {.lowercase = false}) == Sentence{"Tom", "."});
}

TEST_CASE("spaces around and between words make no empty tokens", "[tokenize]") {
  CHECK(tokenize("", {}).empty());
  CHECK(tokenize("   ", {}).empty());
  CHECK(tokenize("  a   b ", {}) == Sentence{"a", "b"});
  CHECK(tokenize("  a   b ", {.tokens = Tokens::none}) == Sentence{"a", "b"});
}

TEST_CASE("tokens are counted as they are cut, without being made", "[tokenize]") {
  const std::vector<std::string> pieces = {"a",      " ",      ".",     ",!",   "été", "\t",  "中文",
                                           "\u00a0", "\u202f", "I.B.M", "\x1b", "?",   "word"};
  for (const Tokens tokens : {Tokens::words, Tokens::words_and_marks, Tokens::characters, Tokens::none})
    for (std::size_t seed = 0; seed < 400; ++seed) {
      std::string sentence;
      for (std::size_t i = 0, draw = seed * 7919 + 13; i < seed % 9; ++i, draw = draw * 31 + 7)
        sentence += pieces[draw % pieces.size()];
      CAPTURE(sentence);
      CHECK(bahdanau::count_tokens(sentence, {.tokens = tokens}) ==
            tokenize(sentence, {.tokens = tokens}).size());
    }
  CHECK_THROWS_MATCHES(bahdanau::count_tokens("a\xff", {}), bahdanau::Error,
                       Message("normalize: expected UTF-8, got byte 0xff at offset 1"));
}

TEST_CASE("characters are code points, and spaces between them are a token that one sees",
          "[tokenize][unicode]") {
  bahdanau::TextSide characters{.tokens = Tokens::characters};
  CHECK(tokenize(" 我们 \t 试试！ ", characters) == Sentence{"我", "们", "▁", "试", "试", "！"});
  CHECK(tokenize("a▁b", characters) == tokenize("a b", characters));
  CHECK(detokenize(tokenize("i lost it .", characters), characters) == "i lost it .");
  characters.spaces = false;  // as version 0.1
  CHECK(tokenize("我们 试试！", characters) == Sentence{"我", "们", "试", "试", "！"});
  CHECK(tokenize("a▁b", characters) == Sentence{"a", "▁", "b"});
  CHECK(tokenize("Go.", characters) == Sentence{"g", "o", "."});
  CHECK(tokenize("É\u00a0\u202f\U0001f600", characters) == Sentence{"é", "\U0001f600"});
  CHECK(tokenize("e\u0301", characters) ==
        Sentence{"e", "\u0301"});  // a combining accent is its own code point
  CHECK(tokenize("Go.", {.tokens = Tokens::characters, .lowercase = false}) == Sentence{"G", "o", "."});
}

TEST_CASE("none splits on spaces and leaves the rest alone", "[tokenize]") {
  bahdanau::TextSide none{.tokens = Tokens::none};
  CHECK(tokenize("He's Calm, BPE@@ ed.", none) == Sentence{"He's", "Calm,", "BPE@@", "ed."});
  CHECK(tokenize("a\u00a0b É", none) == Sentence{"a\u00a0b", "É"});
}

TEST_CASE("text that is not UTF-8 is refused whatever a token is", "[tokenize][error]") {
  REQUIRE_THROWS_MATCHES(tokenize("ab\xff", {}), bahdanau::Error,
                         Message("normalize: expected UTF-8, got byte 0xff at offset 2"));
  for (Tokens tokens : {Tokens::words_and_marks, Tokens::characters, Tokens::none}) {
    REQUIRE_THROWS_MATCHES(tokenize("ab\xff", {.tokens = tokens}), bahdanau::Error,
                           Message("tokenize: expected UTF-8, got byte 0xff at offset 2"));
  }
}

TEST_CASE("tokens are joined as they were cut", "[tokenize]") {
  CHECK(detokenize({"il", "est", "calme", "."}, Tokens::words) == "il est calme .");
  CHECK(detokenize({"BPE@@", "ed"}, Tokens::none) == "BPE@@ ed");
  CHECK(detokenize({"我", "们"}, Tokens::characters) == "我们");
  CHECK(detokenize({}, Tokens::words).empty());
}

TEST_CASE("kinds of tokens go by the names in a model file", "[tokenize]") {
  for (Tokens tokens :
       {Tokens::words, Tokens::words_and_marks, Tokens::characters, Tokens::none, Tokens::subwords}) {
    CHECK(bahdanau::tokens_from_name(name(tokens)) == tokens);
  }
  CHECK(name(Tokens::characters) == "characters");
  REQUIRE_THROWS_MATCHES(bahdanau::tokens_from_name("Words"), bahdanau::Error,
                         Message(R"(tokens: expected "words", "words_and_marks", "characters", "none" or )"
                                 R"("subwords", got "Words")"));
}

TEST_CASE("text options are d2l's words, uncut unless asked, and compare by value", "[tokenize]") {
  bahdanau::TextOptions options;
  CHECK(options == bahdanau::TextOptions{.tokens = Tokens::words, .lowercase = true, .max_length = 0});
  CHECK_FALSE(options == bahdanau::TextOptions{.max_length = 11});
}

TEST_CASE("control characters count as spaces, whatever a token is", "[tokenize]") {
  using Words = std::vector<std::string>;
  for (const bahdanau::Tokens tokens : {bahdanau::Tokens::words, bahdanau::Tokens::none})
    CHECK(bahdanau::tokenize("a\tb\x1b c\u0085d\x7f", {.tokens = tokens}) == Words{"a", "b", "c", "d"});
  CHECK(bahdanau::tokenize("a\tb\u009b", {.tokens = bahdanau::Tokens::characters}) == Words{"a", "▁", "b"});
  CHECK(bahdanau::tokenize("a\tb\u009b", {.tokens = bahdanau::Tokens::words_and_marks}) == Words{"a", "b"});
}
