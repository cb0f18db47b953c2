// A corpus: sentence pairs as rows of token ids, with the vocabularies that they were numbered by.
// Rows end in `<eos>`; given a `max_length`, longer ones are cut as d2l cuts them, and how many were is said.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <bahdanau/core/random.hpp>
#include <bahdanau/text/pairs.hpp>
#include <bahdanau/text/vocabularies.hpp>

namespace bahdanau {

/// How a file of sentence pairs becomes a corpus.
struct CorpusOptions {
  std::size_t max_pairs = 0;      // 0: all
  std::size_t min_frequency = 2;  // rarer tokens become `<unk>`
  std::size_t max_length = 0;     // of a row, `<eos>` included: longer ones are cut; 0: nothing is cut
  Tokens tokens = Tokens::words;
  bool lowercase = true;
  BadLines bad_lines = BadLines::fail;
  bool reverse_source = false;  // whether models read sources from their ends; rows here stay as they are

  TextOptions text() const { return {tokens, lowercase, max_length, reverse_source}; }
};

/// Sentence pairs ready for training.
class Corpus {
 public:
  using Rows = std::vector<std::vector<Token>>;

  /// Reads tab-separated pairs and builds the vocabularies from them. Throws with path and line for what is
  /// no pair, for a file without pairs, and for a row beyond `TextOptions::longest` that no `max_length`
  /// cuts.
  static Corpus read(const std::filesystem::path& path, const CorpusOptions& options = {}) {
    return read_with(path, options, std::nullopt);
  }

  /// Reads pairs that are numbered by the vocabularies of another corpus or of a model: a validation set,
  /// say.
  static Corpus read(const std::filesystem::path& path, const Vocabularies& vocabularies,
                     CorpusOptions options = {}) {
    options.tokens = vocabularies.text.tokens;
    options.lowercase = vocabularies.text.lowercase;
    options.max_length = vocabularies.text.max_length;
    options.reverse_source = vocabularies.text.reverse_source;
    return read_with(path, options, vocabularies);
  }

  /// A corpus of pairs in memory; options as for a file.
  static Corpus from_pairs(std::span<const SentencePair> pairs, const CorpusOptions& options = {}) {
    Side source, target;
    for (const SentencePair& pair : pairs) {
      source.add(pair.source, options.text());
      target.add(pair.target, options.text());
    }
    return make("Corpus", source, target, options, std::nullopt);
  }

  std::size_t size() const { return source_.size(); }
  const Vocabularies& vocabularies() const { return vocabularies_; }
  const Rows& source() const { return source_; }
  const Rows& target() const { return target_; }
  /// Rows, on either side, that were longer than `max_length`: all others end in `<eos>`.
  std::size_t cut_rows() const {
    const auto cut = [](const std::vector<Token>& row) { return row.empty() || row.back() != reserved::eos; };
    return static_cast<std::size_t>(std::count_if(source_.begin(), source_.end(), cut) +
                                    std::count_if(target_.begin(), target_.end(), cut));
  }
  /// Lines that were left out on request, because they were no pairs.
  std::size_t skipped_lines() const { return skipped_; }
  /// Valid target tokens, `<eos>` included.
  std::size_t target_tokens() const {
    std::size_t total = 0;
    for (const auto& row : target_) total += row.size();
    return total;
  }

  /// Splits off `count` randomly chosen pairs: first what is left, then those. Both keep the vocabularies.
  std::pair<Corpus, Corpus> split(std::size_t count, std::uint64_t seed = 0) const {
    if (count == 0 || count >= size())
      fail("Corpus::split", "from 1 to " + detail::text(size() - 1) + " pairs", detail::text(count));
    std::vector<std::size_t> order = shuffled(size(), random::key_of(seed, random::Stream::splitting));
    std::vector<bool> chosen(size());
    for (std::size_t i = 0; i < count; ++i) chosen[order[i]] = true;
    Corpus rest(vocabularies_), part(vocabularies_);
    for (std::size_t i = 0; i < size(); ++i) {
      Corpus& into = chosen[i] ? part : rest;
      into.source_.push_back(source_[i]);
      into.target_.push_back(target_[i]);
    }
    return {std::move(rest), std::move(part)};
  }

  /// A permutation of 0, ..., n - 1 that only the key decides.
  static std::vector<std::size_t> shuffled(std::size_t n, random::Key key) {
    std::vector<std::size_t> order(n);
    for (std::size_t i = 0; i < n; ++i) order[i] = i;
    for (std::size_t i = n; i > 1; --i) std::swap(order[i - 1], order[key.bits(i) % i]);
    return order;
  }

 private:
  /// One language while it is read: sentences as numbers of a counter, so that no word is kept twice.
  struct Side {
    TokenCounter counter;
    std::vector<std::vector<std::uint32_t>> sentences;

    void add(const std::string& sentence, const TextOptions& options) {
      auto& numbers = sentences.emplace_back();
      for (const std::string& token : tokenize(sentence, options)) numbers.push_back(counter.number(token));
    }
  };

  explicit Corpus(Vocabularies vocabularies) : vocabularies_(std::move(vocabularies)) {}

  static Corpus read_with(const std::filesystem::path& path, const CorpusOptions& options,
                          const std::optional<Vocabularies>& given) {
    PairReader reader(path, options.bad_lines);
    Side source, target;
    SentencePair pair;
    while ((options.max_pairs == 0 || source.sentences.size() < options.max_pairs) && reader.next(pair)) {
      source.add(pair.source, options.text());
      target.add(pair.target, options.text());
    }
    Corpus corpus = make(path.string(), source, target, options, given);
    corpus.skipped_ = reader.skipped();
    return corpus;
  }

  static Corpus make(const std::string& where, const Side& source, const Side& target,
                     const CorpusOptions& options, const std::optional<Vocabularies>& given) {
    if (source.sentences.empty()) fail(where, "at least one sentence pair", "none");
    options.text().check(where);
    Corpus corpus(given ? *given
                        : Vocabularies{Vocabulary::of_counts(source.counter, options.min_frequency),
                                       Vocabulary::of_counts(target.counter, options.min_frequency),
                                       options.text()});
    const auto number = [&](const Side& side, const Vocabulary& vocabulary, Rows& rows) {
      std::vector<Token> id_of;  // of each number of the counter
      for (std::size_t i = 0; i < side.counter.size(); ++i)
        id_of.push_back(vocabulary.id(side.counter.token(i)));
      rows.reserve(side.sentences.size());
      for (const auto& sentence : side.sentences) {
        std::vector<Token> row;
        row.reserve(sentence.size() + 1);
        for (const std::uint32_t i : sentence) row.push_back(id_of[i]);
        row.push_back(reserved::eos);
        if (options.max_length == 0 && row.size() > TextOptions::longest)
          fail(where, "rows of at most " + detail::text(TextOptions::longest) + " tokens",
               "one of " + detail::text(row.size()), "max_length cuts longer ones");
        if (options.max_length != 0 && row.size() > options.max_length) row.resize(options.max_length);
        rows.push_back(std::move(row));
      }
    };
    number(source, corpus.vocabularies_.source, corpus.source_);
    number(target, corpus.vocabularies_.target, corpus.target_);
    return corpus;
  }

  Vocabularies vocabularies_;
  Rows source_, target_;
  std::size_t skipped_ = 0;
};

}  // namespace bahdanau
