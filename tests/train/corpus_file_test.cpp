// Pairs that stay in their file: the rows of a corpus that has them in memory, and the same training.
#include <cstddef>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <bahdanau/bahdanau.hpp>

#include "support/captured_stderr.hpp"
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

TEST_CASE(
    "text that changes under an open file is an error, and lines behind the pairs are none of its business",
    "[train][corpus_file][error]") {
  const TemporaryDirectory folder;
  const std::string text = lines(70);
  put(folder / "pairs", text);
  const auto file = bd::CorpusFile::open(folder / "pairs", {.max_pairs = 60, .min_frequency = 1});
  const auto write = [&](const std::string& other) {  // in place, as an editor may
    std::fstream stream(folder / "pairs", std::ios::in | std::ios::out | std::ios::binary);
    stream << other;
  };
  write(text + "more\tmore\n");
  CHECK(!file.pair(59).source.empty());
  CHECK(fingerprint(file) ==
        fingerprint(bd::CorpusFile::open(folder / "pairs", {.max_pairs = 60, .min_frequency = 1})));
  const std::size_t place = text.find('\t', text.size() / 2);
  std::string changed = text;
  ++changed[place - 1];  // of the same length
  write(changed);
  std::size_t refused = 0;
  for (std::size_t i = 0; i < file.size(); ++i) {
    const std::string message = message_of([&] { file.pair(i); });
    if (message == "nothing was thrown") continue;
    ++refused;
    CHECK_THAT(message, Catch::Matchers::ContainsSubstring(
                            "expected the text that it had when it was opened, got other "
                            "text from byte ") &&
                            Catch::Matchers::ContainsSubstring("; it has changed since"));
  }
  CHECK(refused == bd::CorpusFile::block);
  write(text);
  for (std::size_t i = 0; i < file.size(); ++i) file.pair(i);
}

TEST_CASE("what may be wrong with the text is said of a file, too", "[train][corpus_file][warning]") {
  const TemporaryDirectory folder;
  const bd::CorpusOptions options{.min_frequency = 30, .max_length = 2};
  for (const std::size_t pairs : {70U, 5000U}) {  // all of them are looked at, or some
    put(folder / "pairs", lines(pairs));
    const auto corpus = bd::Corpus::read(folder / "pairs", options);
    const auto file = bd::CorpusFile::open(folder / "pairs", options);
    const auto fit = [&](const auto& data) {
      bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Xtensor<float>> model(
          {.embed = 4, .hidden = 4, .layers = 1}, data.vocabularies(), 1);
      bd::TrainingReport report;
      const std::string said =
          captured_stderr([&] { report = bd::Trainer(model, bd::Adam{}, {.epochs = 0}).fit(data, data); });
      return std::pair(report, said);
    };
    const auto in_memory = fit(corpus), in_file = fit(file);
    CHECK(in_memory.first.cut_rows > 0);
    if (pairs == 70) {
      CHECK(in_file.second == in_memory.second);
      CHECK(in_file.first.cut_rows == in_memory.first.cut_rows);
      CHECK(in_file.first.source_unknown == in_memory.first.source_unknown);
    } else {
      CHECK_THAT(in_file.second,
                 Catch::Matchers::ContainsSubstring(" rows that were looked at were cut to 2 tokens"));
      CHECK(static_cast<double>(in_file.first.cut_rows) ==
            Approx(static_cast<double>(in_memory.first.cut_rows)).epsilon(0.1));
      CHECK(in_file.first.target_unknown == Approx(in_memory.first.target_unknown).margin(0.1));
    }
  }
}

TEST_CASE("a checkpoint of pairs in memory is not gone on from with pairs in their file, and says why",
          "[train][corpus_file][checkpoint][error]") {
  const TemporaryDirectory folder;
  put(folder / "pairs", lines(40));
  const auto corpus = bd::Corpus::read(folder / "pairs", {.min_frequency = 1});
  const auto file = bd::CorpusFile::open(folder / "pairs", corpus.vocabularies());
  bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Xtensor<float>> model({.embed = 4, .hidden = 4, .layers = 1},
                                                                      corpus.vocabularies(), 1);
  bd::TrainerOptions options{
      .epochs = 1, .progress = bd::Progress::silent, .checkpoint = folder / "c", .resume = true};
  bd::Trainer(model, bd::Adam{}, options).fit(corpus);
  options.epochs = 2;
  CHECK_THAT(message_of([&] { bd::Trainer(model, bd::Adam{}, options).fit(file); }),
             Catch::Matchers::ContainsSubstring(": expected data 40 pairs, fingerprint ") &&
                 Catch::Matchers::ContainsSubstring(", got 40 pairs that stay in their file, fingerprint "));
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
