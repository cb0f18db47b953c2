// Pairs that stay in their file: the rows of a corpus that has them in memory, and the same training.
#include <cstddef>
#include <string>
#include <vector>

#include <bahdanau/bahdanau.hpp>

#include "support/catch.hpp"
#include "support/file_bytes.hpp"
#include "support/message.hpp"
#include "support/temporary_directory.hpp"

namespace bd = bahdanau;
using namespace bd::test;

namespace {

/// Lines of all kinds: a byte-order mark, CRLF, other bytes than ASCII, a third column, no end of the last
/// one.
std::string lines(std::size_t count) {
  std::string text = "\xEF\xBB\xBF";
  for (std::size_t i = 0; i < count; ++i) {
    text += "word" + std::to_string(i % 13) + (i % 3 == 0 ? " là" : "") + "\tmot" + std::to_string(i % 13);
    for (std::size_t k = 0; k < i % 5; ++k) text += " plus";
    if (i % 4 == 0) text += "\tnote";
    if (i + 1 < count) text += i % 7 == 0 ? "\r\n" : "\n";
  }
  return text;
}

}  // namespace

TEST_CASE("a file's rows are those of a corpus in memory", "[train][corpus_file]") {
  const TemporaryDirectory folder;
  for (const std::size_t count : {1U, 15U, 16U, 17U, 100U}) {
    put(folder / "pairs", lines(count));
    const auto corpus = bd::Corpus::read(folder / "pairs", {.min_frequency = 1, .max_length = 4});
    const auto file = bd::CorpusFile::open(folder / "pairs", corpus.vocabularies());
    REQUIRE(file.size() == count);
    for (std::size_t i = 0; i < count; ++i) {
      CHECK(file.source_row(file.pair(i)) == corpus.source()[i]);
      CHECK(file.target_row(file.pair(i)) == corpus.target()[i]);
    }
  }
}

TEST_CASE("a file builds the vocabularies of a corpus in memory, from as many pairs",
          "[train][corpus_file]") {
  const TemporaryDirectory folder;
  put(folder / "pairs",
      "The cat ran .\tle chat\n\"The dog ran .\tle chien\nRed is the cat .\tle chat\n" + lines(60).substr(3));
  const bd::TextSide cased{.truecase = true};
  for (const std::size_t most : {0U, 1U, 3U, 16U, 40U}) {
    for (const bd::CorpusOptions& options :
         {bd::CorpusOptions{.max_pairs = most, .min_frequency = 1, .max_length = 3},
          bd::CorpusOptions{.max_pairs = most, .min_frequency = 2, .source = cased},
          bd::CorpusOptions{.max_pairs = most, .tokens = bd::Tokens::characters}}) {
      const auto corpus = bd::Corpus::read(folder / "pairs", options);
      const auto file = bd::CorpusFile::open(folder / "pairs", options);
      CHECK(file.vocabularies() == corpus.vocabularies());
      REQUIRE(file.size() == corpus.size());
      for (std::size_t i = 0; i < file.size(); ++i)
        CHECK(file.source_row(file.pair(i)) == corpus.source()[i]);
      const bd::CorpusOptions more{.min_frequency = 1, .extend = true};
      CHECK(bd::CorpusFile::open(folder / "pairs", corpus.vocabularies(), more).vocabularies() ==
            bd::Corpus::read(folder / "pairs", corpus.vocabularies(), more).vocabularies());
    }
  }
}

TEST_CASE("a file refuses what only a corpus in memory can do", "[train][corpus_file][error]") {
  const TemporaryDirectory folder;
  put(folder / "pairs", lines(20));
  CHECK_THAT(message_of([&] { bd::CorpusFile::open(folder / "pairs", {.sampling = {.best = 4}}); }),
             Catch::Matchers::ContainsSubstring("expected subwords that are not sampled"));
  CHECK_THAT(message_of([&] { bd::CorpusFile::open(folder / "pairs", {.extend = true}); }),
             Catch::Matchers::ContainsSubstring("expected vocabularies to extend, got none"));
}

TEST_CASE("lines that are left out are left out of a file, too", "[train][corpus_file]") {
  const TemporaryDirectory folder;
  std::string text;
  for (std::size_t i = 0; i < 80; ++i)
    text += i % 5 == 2 || (i > 30 && i < 50) ? "no tab\n"
                                             : "a" + std::to_string(i) + "\tb" + std::to_string(i) + "\n";
  put(folder / "pairs", text);
  const auto corpus =
      bd::Corpus::read(folder / "pairs", {.min_frequency = 1, .bad_lines = bd::BadLines::skip});
  const auto file = bd::CorpusFile::open(folder / "pairs", corpus.vocabularies(), bd::BadLines::skip);
  CHECK(file.skipped_lines() == corpus.skipped_lines());
  REQUIRE(file.size() == corpus.size());
  for (std::size_t i = 0; i < file.size(); ++i) CHECK(file.source_row(file.pair(i)) == corpus.source()[i]);
  CHECK_THAT(message_of([&] { bd::CorpusFile::open(folder / "pairs", corpus.vocabularies()); }),
             Catch::Matchers::ContainsSubstring(":3: expected a source, a tab and a target"));
}

TEST_CASE("a training on a file ends with the bits of one on the corpus", "[train][corpus_file][bits]") {
  const TemporaryDirectory folder;
  put(folder / "pairs", lines(70));
  const auto corpus = bd::Corpus::read(folder / "pairs", {.min_frequency = 1});
  const auto file = bd::CorpusFile::open(folder / "pairs", corpus.vocabularies());
  const auto weights = [&](const auto& data) {
    bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Xtensor<float>> model(
        {.embed = 8, .hidden = 8, .layers = 1, .dropout = 0.1F}, corpus.vocabularies(), 1);
    bd::Trainer(model, bd::Adam{}, {.epochs = 2, .batch = 16, .progress = bd::Progress::silent}).fit(data);
    return model.weights().read();
  };
  CHECK(weights(file) == weights(corpus));
}

TEST_CASE("a file that has changed, or was opened with other words, is another one",
          "[train][corpus_file][error]") {
  const TemporaryDirectory folder;
  put(folder / "pairs", lines(70));
  const auto corpus = bd::Corpus::read(folder / "pairs", {.min_frequency = 1});
  const auto file = bd::CorpusFile::open(folder / "pairs", corpus.vocabularies());
  const auto print = fingerprint(file);
  CHECK(print == fingerprint(bd::CorpusFile::open(folder / "pairs", corpus.vocabularies())));
  const auto fewer = bd::Corpus::read(folder / "pairs", {.min_frequency = 9});
  CHECK(print != fingerprint(bd::CorpusFile::open(folder / "pairs", fewer.vocabularies())));
  put(folder / "pairs", lines(71));
  CHECK(print != fingerprint(bd::CorpusFile::open(folder / "pairs", corpus.vocabularies())));
  put(folder / "pairs", "a\tb\n");
  CHECK_THAT(message_of([&] { file.pair(69); }),
             Catch::Matchers::ContainsSubstring("it has become shorter since it was opened"));
  bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Xtensor<float>> model({.embed = 4, .hidden = 4, .layers = 1},
                                                                      fewer.vocabularies(), 1);
  CHECK_THAT(message_of([&] { bd::Trainer(model).fit(file); }),
             Catch::Matchers::ContainsSubstring("expected a corpus with the model's vocabularies"));
}
