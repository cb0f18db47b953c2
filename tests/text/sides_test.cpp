// Each side of a model with settings of its own: words and marks, languages, true case.
#include <string>
#include <vector>

#include <bahdanau/text/corpus.hpp>
#include <bahdanau/text/vocabularies.hpp>

#include "support/catch.hpp"
#include "support/data.hpp"
#include "support/message.hpp"

using namespace bahdanau::test;
namespace bd = bahdanau;

namespace {

using Words = std::vector<std::string>;

bd::TextSide marks(bd::Language language) {
  return {.tokens = bd::Tokens::words_and_marks, .lowercase = false, .language = language};
}

/// Text that went through tokens.
std::string through(const std::string& text, bd::Language language) {
  const bd::TextSide side = marks(language);
  return bd::detokenize(bd::tokenize(text, side), side);
}

}  // namespace

TEST_CASE("words and marks: punctuation stands by itself, unless it belongs to a word or a number",
          "[tokenize]") {
  const bd::TextSide side = marks(bd::Language::none);
  CHECK(bd::tokenize("He said: \"I'm home (at 10:30)\".", side) ==
        Words{"He", "said", ":", "\"", "I'm", "home", "(", "at", "10:30", ")", "\"", "."});
  CHECK(bd::tokenize("3.14, 1,000 and 10:30; 5%", side) ==
        Words{"3.14", ",", "1,000", "and", "10:30", ";", "5", "%"});
  CHECK(bd::tokenize("l'homme, aujourd’hui, vas-tu", side) ==
        Words{"l'homme", ",", "aujourd’hui", ",", "vas-tu"});
  CHECK(bd::tokenize("the U.S. and a.b@c.org: AT&T", side) ==
        Words{"the", "U.S", ".", "and", "a.b@c.org", ":", "AT&T"});
  CHECK(bd::tokenize("wait... what?! no!!", side) == Words{"wait", "...", "what", "?", "!", "no", "!!"});
  CHECK(bd::tokenize("«\u00a0oui\u202f»\u2009!", side) == Words{"«", "oui", "»", "!"});
  CHECK(bd::tokenize("¿Qué? 你好，世界。", side) == Words{"¿", "Qué", "?", "你好", "，", "世界", "。"});
  CHECK(bd::tokenize("'quoted' dogs' x- -y a--b", side) ==
        Words{"'", "quoted", "'", "dogs", "'", "x", "-", "-", "y", "a", "--", "b"});
  CHECK(bd::tokenize("<eos> <unk>", side) == Words{"<", "eos", ">", "<", "unk", ">"});
  CHECK(bd::tokenize("1914–1918, then–now", side) == Words{"1914–1918", ",", "then", "–", "now"});
  // What people see as one character stays one: flags, colours of skin, families, hearts in colour.
  CHECK(bd::tokenize("🇫🇷🇩🇪 👍🏽! 👨‍👩‍👧 ❤️", side) ==
        Words{"🇫🇷", "🇩🇪", "👍🏽", "!", "👨‍👩‍👧", "❤️"});
  CHECK(bd::tokenize("e\u0301t\u0301!", side) == Words{"e\u0301t\u0301", "!"});
  CHECK(bd::tokenize("  ", side).empty());
  CHECK(bd::tokenize("ÉTÉ!", {.tokens = bd::Tokens::words_and_marks}) == Words{"été", "!"});
}

TEST_CASE("text comes out as it went in, with the punctuation of its language", "[tokenize][detokenize]") {
  using enum bd::Language;
  for (const char* text :
       {"He said: \"I'm home (at 10:30).\"", "\"Yes,\" he said, \"and 'no'.\"", "It costs $5 (or 3.50)!",
        "Well-known... 50% [of it]; and/or this.", "“Curly” quotes, don’t you think?", "A — B"})
    CHECK(through(text, english) == text);
  CHECK(through("Je suis chez moi!", french) == "Je suis chez moi\u202f!");
  for (const char* text : {"Il a dit\u00a0: «\u00a0Viens\u202f!\u00a0»",
                           "Vraiment\u202f? Oui\u202f; 5\u00a0% (ou plus).", "L'été, c'est fini."})
    CHECK(through(text, french) == text);
  for (const char* text : {"Er sagte: „Komm!“ (um 10:30)", "Das kostet 5\u00a0€.", "Ja; »so« nicht?"})
    CHECK(through(text, german) == text);
  for (const char* text : {"¿Qué? ¡No me digas!", "«Sí», dijo.", "¿Vienes (o no)?"})
    CHECK(through(text, spanish) == text);
  CHECK(bd::detokenize(Words{"我", "在", "NHK", "工作", "，", "“", "好", "”", "。"}, marks(chinese)) ==
        "我在NHK工作，“好”。");
  CHECK(bd::detokenize(Words{"Tom", "Smith", "说", "hello", "world", "！"}, marks(chinese)) ==
        "Tom Smith说hello world！");
  for (const char* text : {"Cats' eyes.", "His parents' house is 'his'.", "He says 'no'.",
                           "€30, £5 and @user #1", "Let 'em in."})
    CHECK(through(text, english) == text);
  CHECK(through("Qui\u202f?!", french) == "Qui\u202f?!");
  // Without a language nothing is known of marks.
  CHECK(through("Yes, I do.", none) == "Yes , I do .");
  CHECK(bd::detokenize(Words{"je", "suis", "<unk>", "."}, marks(french)) == "je suis <unk>.");
  CHECK(bd::detokenize(Words{}, marks(french)).empty());
  CHECK(bd::detokenize(Words{"!"}, marks(french)) == "!");
}

TEST_CASE("a word of d2l's that begins with a mark is a word", "[detokenize]") {
  using enum bd::Language;
  for (const bd::Language language : {english, french, german, spanish}) {
    const bd::TextSide side{.tokens = bd::Tokens::words, .lowercase = false, .language = language};
    for (const char* text : {"The (old) man sat.", "“No” he said", "(see p. 5)", "#1 fan", "The [1] man",
                             "/home is full", "@user said", "«oui» or ¿no"}) {
      INFO(text);
      CHECK(bd::detokenize(bd::tokenize(text, side), side) == text);
    }
    CHECK(bd::detokenize(bd::tokenize("3.14, yes", side), side) == "3.14, yes");
  }
}

TEST_CASE("text that is left alone keeps its case", "[tokenize]") {
  const bd::TextSide side{.tokens = bd::Tokens::none};
  CHECK(side.cased());
  CHECK(side.text() == "none");
  CHECK(side == bd::TextSide{.tokens = bd::Tokens::none, .lowercase = false});
}

TEST_CASE("text comes out as it went in, for almost all of the real sentences",
          "[tokenize][detokenize][data]") {
  const auto data = french_pairs();
  if (data.empty()) return;
  bd::PairReader reader(data);
  std::size_t pairs = 0, english = 0, french = 0;
  const auto plain = [](const std::string& text) {  // which kind of space it is does not matter here
    std::string out;
    for (const std::string& word : bd::tokenize(text, {.tokens = bd::Tokens::words, .lowercase = false}))
      out.append(word).append(" ");
    return out;
  };
  // d2l's words part no marks but four: what is joined wrongly shows.
  for (bd::SentencePair pair; reader.next(pair); ++pairs) {
    if (pairs % 4 != 0) continue;
    english += through(pair.source, bd::Language::english) == pair.source ? 1 : 0;
    french += plain(through(pair.target, bd::Language::french)) == plain(pair.target) ? 1 : 0;
  }
  CHECK(static_cast<double>(english) > 0.999 * static_cast<double>(pairs / 4));
  CHECK(static_cast<double>(french) > 0.99 * static_cast<double>(pairs / 4));
}

TEST_CASE("a corpus reads each side in its own way", "[corpus][sides]") {
  const std::vector<bd::SentencePair> pairs{{"Tom chases Jerry.", "汤姆 追逐 杰瑞。"}};
  const bd::CorpusOptions options{.min_frequency = 1,
                                  .source = bd::TextSide{.tokens = bd::Tokens::words_and_marks},
                                  .target = bd::TextSide{.tokens = bd::Tokens::characters}};
  const auto corpus = bd::Corpus::from_pairs(pairs, options);
  const bd::Vocabularies& v = corpus.vocabularies();
  CHECK(v.source_tokens("Tom chases Jerry.") == Words{"tom", "chases", "jerry", "."});
  CHECK(v.target_tokens("汤姆 追逐") == Words{"汤", "姆", "▁", "追", "逐"});
  CHECK(v.target_text(Words{"汤", "姆", "▁", "追"}) == "汤姆 追");
  CHECK(corpus.source()[0].size() == 5);
  CHECK(corpus.target()[0].size() == 10);
  CHECK(message_of([&] { bd::tokenize("x", v.text); }) ==
        "tokenize: expected the settings of one side, got those of two that differ; pass source_side() or "
        "target_side()");
  CHECK(bd::tokenize("X y", bd::TextOptions{}) == Words{"x", "y"});
  // A side without settings of its own has the common ones.
  CHECK(bd::TextOptions{.tokens = bd::Tokens::none} ==
        bd::TextOptions{.source = bd::TextSide{.tokens = bd::Tokens::none},
                        .target = bd::TextSide{.tokens = bd::Tokens::none}});
}

TEST_CASE("true case: a first word is spelt as it is inside of sentences", "[corpus][truecase]") {
  const bd::TextSide side{
      .tokens = bd::Tokens::words_and_marks, .truecase = true, .language = bd::Language::english};
  const std::vector<bd::SentencePair> pairs{{"The cat saw Tom.", "a"},         {"Tom saw the cat.", "a"},
                                            {"\"Did Tom see the cat?\"", "a"}, {"Hurry, May!", "a"},
                                            {"In May it may rain.", "a"},      {"May I?", "a"},
                                            {"You may not in May, May.", "a"}};
  const auto corpus = bd::Corpus::from_pairs(pairs, {.min_frequency = 1, .source = side});
  const bd::Vocabularies& v = corpus.vocabularies();
  CHECK(v.source.contains("the"));
  CHECK_FALSE(v.source.contains("The"));
  CHECK(v.source.contains("Tom"));
  CHECK_FALSE(v.source.contains("tom"));
  CHECK(v.source.contains("hurry"));  // never inside of a sentence
  CHECK(v.source_tokens("The cat") == Words{"the", "cat"});
  CHECK(v.source_tokens("\"Tom saw") == Words{"\"", "Tom", "saw"});
  CHECK(v.source_tokens("May the cat") == Words{"May", "the", "cat"});  // which is the more frequent spelling
  CHECK(v.source_tokens("Zoe saw THE cat") == Words{"Zoe", "saw", "THE", "cat"});
  CHECK(v.source_tokens("").empty());
  // What training has seen is what a sentence becomes.
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    std::vector<bd::Token> row = v.source.encode(v.source_tokens(pairs[i].source));
    row.push_back(bd::reserved::eos);
    CHECK(corpus.source()[i] == row);
  }
  CHECK(bd::detokenize(Words{"\"", "éric", "saw", "it", ".", "\""}, side) == "\"Éric saw it.\"");
  CHECK(bd::detokenize(Words{"...", "!"}, side) == "...!");
}

TEST_CASE("settings that do not go together are refused", "[tokenize][error]") {
  const auto said = [](bd::TextSide side) {
    return message_of([&] {
      bd::Corpus::from_pairs(std::vector<bd::SentencePair>{{"a", "b"}}, {.target = side});
    });
  };
  CHECK(said({.tokens = bd::Tokens::characters, .truecase = true}) ==
        "Corpus, target: expected truecase with tokens \"words\" or \"words_and_marks\", got \"characters\"");
  CHECK(said({.tokens = bd::Tokens::characters, .language = bd::Language::chinese}) ==
        "Corpus, target: expected a language with tokens \"words\" or \"words_and_marks\", got "
        "\"characters\"; the "
        "others give text back as it was");
  CHECK(said({.tokens = bd::Tokens::subwords}) ==
        "Corpus, target: expected a model of subwords, got none; SentencePiece::train makes one, "
        "SentencePiece::read reads one");
  CHECK(message_of([] { bd::language_from_name("klingon"); }) ==
        "language: expected \"none\", \"english\", \"french\", \"german\", \"spanish\" or \"chinese\", got "
        "\"klingon\"");
}
