// Any bytes as a file of sentence pairs, with any options: lines, tokens, vocabularies and corpora.
// The first bytes choose the options, the rest is the file.
#include <algorithm>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <bahdanau/metric/bleu.hpp>
#include <bahdanau/text/corpus.hpp>

#include "fuzz.hpp"
#include "seeds.hpp"

namespace bd = bahdanau;
using bd::fuzz::require;

namespace {

bd::CorpusOptions options_from(bd::fuzz::Input& input) {
  bd::CorpusOptions options;
  options.tokens = input.one_of(
      {bd::Tokens::words, bd::Tokens::characters, bd::Tokens::none, bd::Tokens::words_and_marks});
  const auto flags = input.take<std::uint8_t>();
  options.lowercase = (flags & 1U) != 0;
  options.bad_lines = (flags & 2U) != 0 ? bd::BadLines::skip : bd::BadLines::fail;
  options.min_frequency = input.one_of<std::size_t>({0, 1, 2, 3, ~std::size_t{0}});
  options.max_length = input.one_of<std::size_t>({0, 1, 2, 3, 10, 65536, 65537, ~std::size_t{0}});
  options.max_pairs = input.one_of<std::size_t>({0, 1, 2, 100, ~std::size_t{0}});
  return options;
}

void check_rows(const bd::Corpus::Rows& rows, const bd::Vocabulary& vocabulary,
                const bd::CorpusOptions& options) {
  const std::size_t most = options.max_length == 0 ? bd::TextOptions::longest : options.max_length;
  for (const auto& row : rows) {
    require(!row.empty() && row.size() <= most, "rows have 1 to max_length tokens");
    require(row.back() == bd::reserved::eos || row.size() == options.max_length,
            "rows end in <eos> unless they were cut");
    for (const bd::Token id : row) (void)vocabulary.token(id);
  }
}

void check_tokens(std::string_view sentence, const bd::TextOptions& text) {
  const std::vector<std::string> tokens = bd::tokenize(sentence, text);
  for (const std::string& token : tokens) {
    require(!token.empty() && token.find(' ') == token.npos, "tokens have no spaces");
    require(bd::fuzz::is_plain(token), "tokens are UTF-8 without control characters");
  }
  const std::string joined = bd::detokenize(tokens, text.tokens);
  require(bd::tokenize(joined, text) == tokens, "tokens that are joined are found again", joined);
  const double score = bd::sentence_bleu(tokens, tokens, 4);
  require(tokens.empty() ? score == 0 : score > 0.999999 && score < 1.000001,
          "BLEU of a text with itself is 1");
}

void check_corpus(const bd::Corpus& corpus, const bd::CorpusOptions& options) {
  const auto& v = corpus.vocabularies();
  require(corpus.size() >= 1 && corpus.size() == corpus.target().size(),
          "there are pairs, and their targets");
  require(options.max_pairs == 0 || corpus.size() <= options.max_pairs, "there are at most max_pairs");
  check_rows(corpus.source(), v.source, options);
  check_rows(corpus.target(), v.target, options);
  if (corpus.size() < 2) return;
  const auto [rest, part] = corpus.split(1, corpus.size());
  require(rest.size() + 1 == corpus.size() && part.size() == 1, "a split keeps all pairs");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  bd::fuzz::Input input(data, size);
  const bd::CorpusOptions options = options_from(input);
  const std::string bytes(input.rest());

  // Lines one at a time, going on after those that are refused.
  std::vector<bd::SentencePair> pairs;
  std::istringstream stream(bytes);
  bd::PairReader reader(stream, "input", bd::BadLines::fail);
  for (bool more = true; more;) {
    bd::SentencePair pair;
    if (bd::fuzz::accepted([&] { more = reader.next(pair); }) && more) pairs.push_back(pair);
  }
  for (const bd::SentencePair& pair : pairs) {
    bd::fuzz::accepted([&] { check_tokens(pair.source, options.text()); });
    bd::fuzz::accepted([&] { check_tokens(pair.target, options.text()); });
  }
  bd::fuzz::accepted([&] { check_tokens(bytes, options.text()); });

  // The same as a file.
  static const bd::fuzz::File file("pairs");
  file.write(bytes);
  bd::fuzz::accepted([&] {
    const bd::Corpus corpus = bd::Corpus::read(file.path(), options);
    check_corpus(corpus, options);
    if (options.max_pairs == 0)
      require(corpus.size() == pairs.size() && corpus.skipped_lines() == reader.line() - pairs.size(),
              "all pairs are in the corpus, and all other lines are counted");
    const bd::Corpus again = bd::Corpus::read(file.path(), corpus.vocabularies(), options);
    require(again.source() == corpus.source() && again.target() == corpus.target(),
            "a file read with its own vocabularies is the same corpus");
    if (options.max_pairs == 0) {
      const bd::Corpus in_memory = bd::Corpus::from_pairs(pairs, options);
      require(in_memory.source() == corpus.source(), "pairs in memory are the same corpus");
    }
  });
  // Tokens as they stand in the file, as a vocabulary.
  bd::fuzz::accepted([&] {
    std::vector<std::string> tokens(bd::reserved::names.begin(), bd::reserved::names.end());
    std::string token;
    for (std::istringstream words(bytes); std::getline(words, token, '\t');) tokens.push_back(token);
    const bd::Vocabulary vocabulary(tokens);
    for (std::size_t i = 0; i < tokens.size(); ++i)
      require(vocabulary.id(tokens[i]) == static_cast<bd::Token>(i), "a token has its place as id");
  });
  return 0;
}

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  bd::fuzz::seeds(*argc, *argv, [](const std::filesystem::path& folder) {
    const std::vector<std::string> files = {
        "Go.\tVa !\nHi.\tSalut !\nRun!\tCours\xE2\x80\xAF!\tCC-BY\nI lost.\tJ'ai perdu.\n",
        "\xEF\xBB\xBFhe's calm .\til est calme .\r\n\r\nno tab\r\n\tno source\nno target\t\n",
        "\xE4\xBD\xA0\xE5\xA5\xBD\t\xC4\xB0\xC3\x89 \xC2\xA0 \xC2\x85 x\na,b.c!d?\t<unk> <pad> <bos> <eos>\n",
        "bad \xFF\tbytes\ncut \xE4\xBD\tx\n\xED\xA0\x80\tsurrogate\n\xC0\x80\toverlong\nlast\tline"};
    for (std::size_t i = 0; i < files.size(); ++i)
      for (const char tokens : {'\0', '\1', '\2'})
        for (const char flags : {'\0', '\1', '\3'})
          bd::fuzz::write_seed(
              folder / ("seed-" + std::to_string(i) + std::to_string(tokens) + std::to_string(flags)),
              std::string{tokens, flags, '\1', static_cast<char>(4 * (flags % 2)), '\0'} + files[i]);
  });
  return 0;
}
