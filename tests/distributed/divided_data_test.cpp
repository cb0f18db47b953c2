// Processes that read the rows that they compute, and no others: the bits of one that reads all.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include <bahdanau/bahdanau.hpp>

#include "support/catch.hpp"
#include "support/file_bytes.hpp"
#include "support/in_memory.hpp"
#include "support/temporary_directory.hpp"

namespace bd = bahdanau;
using namespace bd::test;
using Catch::Matchers::ContainsSubstring;

namespace {

using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Xtensor<float>>;

/// Lines whose targets have lengths of 4 k - 1 characters for k words, and whose sources have one word: both
/// kinds of data sort them alike.
std::string lines(std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    const bd::random::Key key = bd::random::Key{5}.derive(i);
    text += "word" + std::to_string(key.bits(0) % 9) + "\t";
    for (std::size_t k = 0; k < 1 + key.bits(1) % 7; ++k)
      text += std::string(k == 0 ? "" : " ") + "mo" + std::to_string(key.bits(2 + k) % 9);
    text += "\n";
  }
  return text;
}

bd::TrainerOptions options(bd::Grouping grouping) {
  return {.epochs = 2,
          .batch = 18,
          .seed = 3,
          .threads = 1,
          .grouping = grouping,
          .progress = bd::Progress::silent,
          .replicas = 4};
}

Model new_model(const bd::Vocabularies& words) {
  return Model({.embed = 6, .hidden = 8, .layers = 1, .dropout = 0.2F}, words, 2);
}

/// The weights with which all ranks end, and the losses of epochs.
template <class Data>
std::vector<double> trained(std::size_t processes, const Data& data, const Data* validation,
                            const bd::TrainerOptions& options, std::size_t* interrupted = nullptr) {
  std::vector<std::vector<double>> results(processes);
  run_ranks(processes, [&](InMemory& end) {
    Model model = new_model(data.vocabularies());
    bd::TrainerOptions own = options;
    own.communicator = end;
    bd::Trainer trainer(model, bd::Adam{.rate = 0.01}, own);
    const bd::TrainingReport report = validation ? trainer.fit(data, *validation) : trainer.fit(data);
    for (const float w : model.weights().read()) results[end.rank()].push_back(static_cast<double>(w));
    for (const bd::EpochReport& epoch : report.epochs) {
      results[end.rank()].push_back(epoch.training.nats);
      results[end.rank()].push_back(static_cast<double>(epoch.training.tokens));
      if (epoch.validation) results[end.rank()].push_back(epoch.validation->nats);
    }
    if (interrupted && end.rank() == 0) *interrupted = report.interrupted ? 1 : 0;
  });
  for (const auto& result : results) CHECK((result == results[0]));
  return results[0];
}

/// A corpus in memory of which each process is given its rows alone, and counts them.
struct Counted {
  const bd::Corpus& corpus;
  std::vector<std::atomic<int>>& read;
  std::atomic<int>& whole;

  std::size_t size() const { return corpus.size(); }
  const bd::Vocabularies& vocabularies() const { return corpus.vocabularies(); }
  friend bd::Batch make_batch(const Counted& data, std::span<const std::size_t> pairs) {
    ++data.whole;
    return make_batch(data.corpus, pairs);
  }
  friend bd::Batch make_batch(const Counted& data, std::span<const std::size_t> pairs,
                              const bd::BatchPart& part) {
    if (pairs.size() != part.rows.count) bd::fail("make_batch", "the pairs of its rows", "others");
    std::uint64_t source_width = 1, target_width = 1;
    const std::vector<bd::Token> nothing{bd::reserved::eos};
    bd::Corpus::Rows source(part.batch, nothing), target(part.batch, nothing);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      ++data.read[pairs[i]];
      source[part.rows.first + i] = data.corpus.source()[pairs[i]];
      target[part.rows.first + i] = data.corpus.target()[pairs[i]];
      source_width = std::max(source_width, std::uint64_t{data.corpus.source()[pairs[i]].size()});
      target_width = std::max(target_width, std::uint64_t{data.corpus.target()[pairs[i]].size()});
    }
    const auto larger = [](std::uint64_t a, std::uint64_t b) { return std::max(a, b); };
    return {bd::Sequences::from_rows(source, bd::ordered_sum(part.all, source_width, larger)),
            bd::Sequences::from_rows(target, bd::ordered_sum(part.all, target_width, larger))};
  }
  friend auto length_of(const Counted& data, std::size_t i) { return length_of(data.corpus, i); }
  friend std::uint64_t fingerprint(const Counted& data) { return fingerprint(data.corpus); }
};

}  // namespace

TEST_CASE("processes read each pair of an epoch once, all of them together", "[distributed][trainer]") {
  const TemporaryDirectory folder;
  put(folder / "pairs", lines(70));
  const auto corpus = bd::Corpus::read(folder / "pairs", {.min_frequency = 1});
  bd::TrainerOptions once = options(bd::Grouping::random);
  once.epochs = 1;
  for (const std::size_t processes : {1U, 2U, 4U}) {
    std::vector<std::atomic<int>> read(corpus.size()), validated(corpus.size());
    std::atomic<int> whole{0};
    const Counted data{corpus, read, whole}, validation{corpus, validated, whole};
    trained(processes, data, &validation, once);
    for (const auto& count : read) CHECK(count == 1);
    for (const auto& count : validated) CHECK(count == 1);
    CHECK(whole == 0);
  }
}

TEST_CASE("a training on a file ends with the bits of one on the corpus, however many processes read it",
          "[distributed][trainer][corpus_file][bits]") {
  const TemporaryDirectory folder;
  put(folder / "pairs", lines(70));  // the last batch, of 16 rows, is a smaller one
  put(folder / "held out", lines(21));
  const auto corpus = bd::Corpus::read(folder / "pairs", {.min_frequency = 1});
  const auto held_out = bd::Corpus::read(folder / "held out", corpus.vocabularies());
  const auto file = bd::CorpusFile::open(folder / "pairs", corpus.vocabularies());
  const auto held_out_file = bd::CorpusFile::open(folder / "held out", corpus.vocabularies());
  for (const auto grouping : {bd::Grouping::random, bd::Grouping::by_length})
    for (const bool validated : {false, true}) {
      const auto alone = trained(1, corpus, validated ? &held_out : nullptr, options(grouping));
      for (const std::size_t processes : {1U, 2U, 4U}) {
        INFO(processes << " processes" << (validated ? ", validated" : ""));
        CHECK((trained(processes, file, validated ? &held_out_file : nullptr, options(grouping)) == alone));
      }
      // Interrupted within the first epoch, and gone on from by others.
      const auto checkpoint = folder.path() / "checkpoint";
      std::filesystem::remove(checkpoint);
      const std::atomic<bool> interrupt{true};
      bd::TrainerOptions first = options(grouping), second = options(grouping);
      first.checkpoint = second.checkpoint = checkpoint;
      first.interrupt = &interrupt;
      second.resume = true;
      std::size_t interrupted = 0;
      trained(4, file, validated ? &held_out_file : nullptr, first, &interrupted);
      CHECK(interrupted == 1);
      CHECK((trained(2, file, validated ? &held_out_file : nullptr, second) == alone));
    }
}

TEST_CASE("processes that open a file together have what each would have found",
          "[distributed][corpus_file]") {
  const TemporaryDirectory folder;
  put(folder / "pairs", "\xEF\xBB\xBF" + lines(83) + "no tab\n" + lines(5));
  const bd::CorpusOptions options{.min_frequency = 2, .bad_lines = bd::BadLines::skip};
  const auto alone = bd::CorpusFile::open(folder / "pairs", options);
  put(folder / "more", lines(20) + "other\twords\n");
  const bd::CorpusOptions extend{.min_frequency = 1, .extend = true};
  const auto extended = bd::CorpusFile::open(folder / "more", alone.vocabularies(), extend);
  run_ranks(4, [&](InMemory& end) {
    const auto require = [](bool so, const char* what) {
      if (!so) bd::fail("opened together", what, "something else");
    };
    const auto file = bd::CorpusFile::open(folder / "pairs", options, end);
    require(file.vocabularies() == alone.vocabularies(), "the same words");
    require(file.size() == 88 && file.skipped_lines() == 1, "as many pairs");
    require(fingerprint(file) == fingerprint(alone), "the same fingerprint");
    for (std::size_t i = 0; i < file.size(); ++i) {
      require(file.pair(i) == alone.pair(i), "the same pairs");
      require(length_of(file, i) == length_of(alone, i), "the same lengths");
    }
    const auto more = bd::CorpusFile::open(folder / "more", alone.vocabularies(), extend, end);
    require(more.vocabularies() == extended.vocabularies(), "the same words and others");
    require(bd::CorpusFile::open(folder / "more", alone.vocabularies(), {}, end).size() == 21, "21 pairs");
  });
}

TEST_CASE("processes that cannot open a file together all say why", "[distributed][corpus_file][error]") {
  const TemporaryDirectory folder;
  put(folder / "pairs", lines(40));
  put(folder / "shorter", lines(39));
  put(folder / "none", "no tab\n");
  const auto errors = [&](auto open) {
    InMemoryHub hub(2);
    const auto said = errors_of_ranks(hub, open);
    CHECK(hub.failure().empty());
    return said;
  };
  for (const std::string& error :
       errors([&](InMemory& end) { bd::CorpusFile::open(folder / "none", {.min_frequency = 1}, end); }))
    CHECK_THAT(error, ContainsSubstring("none:1: expected a source, a tab and a target"));
  for (const std::string& error : errors([&](InMemory& end) {
         bd::CorpusFile::open(folder / (end.rank() == 0 ? "pairs" : "missing"), {.min_frequency = 1}, end);
       }))
    CHECK_THAT(error, ContainsSubstring("rank 1: ") && ContainsSubstring("missing: expected a file"));
  for (const std::string& error : errors([&](InMemory& end) {
         bd::CorpusFile::open(folder / (end.rank() == 0 ? "pairs" : "shorter"), {.min_frequency = 1}, end);
       }))
    CHECK_THAT(error, ContainsSubstring("expected bytes ") && ContainsSubstring(", as rank 0 has"));
  const auto words = bd::CorpusFile::open(folder / "pairs", {.min_frequency = 1}).vocabularies();
  const auto others = bd::CorpusFile::open(folder / "pairs", {.min_frequency = 30}).vocabularies();
  for (const std::string& error : errors([&](InMemory& end) {
         bd::CorpusFile::open(folder / "pairs", end.rank() == 0 ? words : others, {}, end);
       }))
    CHECK_THAT(error, ContainsSubstring("expected vocabularies "));
}

TEST_CASE("text that changes while one process reads it is an error in all",
          "[distributed][trainer][corpus_file]") {
  const TemporaryDirectory folder;
  put(folder / "pairs", lines(700));
  const auto file = bd::CorpusFile::open(folder / "pairs", {.min_frequency = 1});
  InMemoryHub hub(4);
  const auto errors = errors_of_ranks(hub, [&](InMemory& end) {
    Model model = new_model(file.vocabularies());
    bd::TrainerOptions own = options(bd::Grouping::random);
    own.communicator = end;
    own.on_batch = [&](const bd::BatchReport&) {  // of rank 0
      std::fstream stream(folder / "pairs", std::ios::in | std::ios::out | std::ios::binary);
      stream << "x";  // in place of the first letter: few rows of few batches are read from there
    };
    bd::Trainer(model, bd::Adam{}, own).fit(file);
  });
  for (const std::string& error : errors) {
    CHECK_THAT(error, ContainsSubstring("other text from byte 0 on; it has changed since"));
    CHECK(error == errors[0]);
  }
  CHECK(hub.failure().empty());  // nobody was ended
}
