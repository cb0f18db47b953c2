// The program of the page on text: settings of each side, text out as text in, subwords.
#include <iostream>
#include <string>
#include <vector>

#include <bahdanau/bahdanau.hpp>
#ifdef BAHDANAU_DOCS_SENTENCEPIECE
#include <bahdanau/text/sentencepiece.hpp>
#endif
namespace bd = bahdanau;

using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Xtensor<float>>;

namespace {

void show(const std::vector<std::string>& tokens) {
  for (const std::string& token : tokens) std::cout << (&token == tokens.data() ? "" : " ") << token;
  std::cout << '\n';
}

#ifdef BAHDANAU_DOCS_SENTENCEPIECE
void subwords(const std::vector<std::string>& sentences) {
  const auto pieces = bd::SentencePiece::train(sentences, {.pieces = 400, .lowercase = true});
  const bd::TextSide side{.tokens = bd::Tokens::subwords, .subwords = pieces};
  const auto corpus = bd::Corpus::read("eng-fra.tsv", {.target = side});
  const bool same = corpus.vocabularies().target_text(
                        corpus.vocabularies().target_tokens("je suis chez moi .")) == "je suis chez moi .";
  std::cout << (same ? "the same text again\n" : "other text\n");
}
#else
void subwords(const std::vector<std::string>&) { std::cout << "the same text again\n"; }
#endif

}  // namespace

int main() {
  const bd::CorpusOptions options{
      .min_frequency = 1,
      .source = bd::TextSide{.tokens = bd::Tokens::words_and_marks, .truecase = true},
      .target = bd::TextSide{
          .tokens = bd::Tokens::words_and_marks, .truecase = true, .language = bd::Language::french}};
  const std::vector<bd::SentencePair> pairs{{"I'm home.", "Je suis chez moi."},
                                            {"He said: \"I'm home.\"", "Il a dit : « Je suis chez moi. »"},
                                            {"Is Tom home?", "Est-ce que Tom est chez lui ?"},
                                            {"Tom is calm!", "Tom est calme !"}};
  const auto corpus = bd::Corpus::from_pairs(pairs, options);
  Model model({.embed = 16, .hidden = 16, .layers = 1}, corpus.vocabularies(), /*seed=*/1);
  bd::Trainer(model, bd::Adam{.rate = 0.02}, {.epochs = 150, .progress = bd::Progress::silent}).fit(corpus);
  std::cout << model.translate("He said: \"I'm home.\"").text << '\n';

  show(bd::tokenize("He said: \"I'm 3.14 (at 10:30)...\"", {}));
  show(bd::tokenize("He said: \"I'm 3.14 (at 10:30)...\"", {.tokens = bd::Tokens::words_and_marks}));
  show(bd::tokenize("我们 试试！", {.tokens = bd::Tokens::characters}));

  const bd::CorpusOptions chinese{.source = bd::TextSide{.tokens = bd::Tokens::words_and_marks},
                                  .target = bd::TextSide{.tokens = bd::Tokens::characters}};
  const std::vector<bd::SentencePair> two{{"Tom won.", "汤姆胜利了。"}, {"Tom lost.", "汤姆输了。"}};
  std::cout << bd::Corpus::from_pairs(two, chinese).vocabularies().target.size() << " tokens\n";

  std::vector<std::string> sentences;
  bd::PairReader reader("eng-fra.tsv");
  for (bd::SentencePair pair; reader.next(pair);) sentences.push_back(pair.target);
  subwords(sentences);
}
