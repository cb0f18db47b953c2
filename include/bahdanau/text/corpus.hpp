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
#include <bahdanau/core/shuffle.hpp>
#include <bahdanau/text/pairs.hpp>
#include <bahdanau/text/token_statistics.hpp>
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
  std::optional<TextSide> source{}, target{};  // settings of a side, in place of `tokens` and `lowercase`
  bool extend = false;  // given vocabularies: their tokens, and behind them those of this text that they lack
  SubwordSampling sampling{};  // of sides with subwords: how a training splits them anew in each epoch

  TextOptions text() const { return {tokens, lowercase, max_length, reverse_source, source, target}; }
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
  /// say. Throws for options that say otherwise than the vocabularies how text is read.
  static Corpus read(const std::filesystem::path& path, const Vocabularies& vocabularies,
                     CorpusOptions options = {}) {
    take_text(vocabularies.text, options);
    return read_with(path, options, vocabularies);
  }

  /// A corpus of pairs in memory; options as for a file.
  static Corpus from_pairs(std::span<const SentencePair> pairs, const CorpusOptions& options = {}) {
    options.text().check("Corpus");
    Side source(options.text().source_side(), options.sampling),
        target(options.text().target_side(), options.sampling);
    for (const SentencePair& pair : pairs) {
      source.add(pair.source);
      target.add(pair.target);
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
  /// How subwords are split anew in each epoch of a training.
  const SubwordSampling& sampling() const { return sampling_; }
  /// Row i of a side, split in a way that the key decides: for a side with subwords, where that was asked
  /// for.
  std::vector<Token> sampled_source(std::size_t i, random::Key key) const {
    return sampled(vocabularies_.text.source_side(), vocabularies_.source, source_text_, source_, i, key);
  }
  std::vector<Token> sampled_target(std::size_t i, random::Key key) const {
    return sampled(vocabularies_.text.target_side(), vocabularies_.target, target_text_, target_, i, key);
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
      if (!source_text_.empty()) into.source_text_.push_back(source_text_[i]);
      if (!target_text_.empty()) into.target_text_.push_back(target_text_[i]);
    }
    rest.sampling_ = sampling_;  // nobody validates on sampled rows
    return {std::move(rest), std::move(part)};
  }

  /// A permutation of 0, ..., n - 1 that only the key decides.
  static std::vector<std::size_t> shuffled(std::size_t n, random::Key key) {
    return detail::shuffled(n, key);
  }

 private:
  /// One language while it is read: sentences as numbers of a counter, so that no word is kept twice.
  struct Side {
    detail::TokenStatistics statistics;
    std::vector<detail::TokenStatistics::Sentence> sentences{};
    bool samples;                     // whether sentences are split anew later
    std::vector<std::string> kept{};  // the sentences for that

    Side(TextSide settings, const SubwordSampling& sampling)
        : statistics(std::move(settings)),
          samples(sampling.active() && statistics.text().tokens == Tokens::subwords) {}

    void add(const std::string& sentence) {
      if (samples) kept.push_back(detail::folded(sentence, !statistics.text().cased()));
      sentences.push_back(statistics.add(sentence));
    }
  };

  friend class CorpusFile;  // takes the same options

  /// Throws for what was asked for and is otherwise in the vocabularies; defaults ask for nothing.
  static void require_text_of(const TextOptions& theirs, const CorpusOptions& options) {
    const auto require = [](bool same, const char* what, const std::string& expected,
                            const std::string& got) {
      if (!same)
        fail(std::string("CorpusOptions.") + what, expected + ", as the vocabularies have", got,
             "leave it out: they say how text is read");
    };
    const auto require_side = [&](const char* what, const std::optional<TextSide>& own,
                                  const TextSide& side) {
      if (own)
        return require(*own == side, what, side.text(),
                       own->text() == side.text() ? "other subwords" : own->text());
      require(options.tokens == Tokens::words || options.tokens == side.tokens, "tokens",
              detail::quote(name(side.tokens)), detail::quote(name(options.tokens)));
      require(options.lowercase || side.cased(), "lowercase", "true", "false");
    };
    require_side("source", options.source, theirs.source_side());
    require_side("target", options.target, theirs.target_side());
    require(options.max_length == 0 || options.max_length == theirs.max_length, "max_length",
            detail::text(theirs.max_length), detail::text(options.max_length));
    require(!options.reverse_source || theirs.reverse_source, "reverse_source", "false", "true");
  }

  /// Text is read as the vocabularies say. Throws as above.
  static void take_text(const TextOptions& theirs, CorpusOptions& options) {
    require_text_of(theirs, options);
    options.tokens = theirs.tokens;
    options.lowercase = theirs.lowercase;
    options.max_length = theirs.max_length;
    options.reverse_source = theirs.reverse_source;
    options.source = theirs.source;
    options.target = theirs.target;
  }

  explicit Corpus(Vocabularies vocabularies) : vocabularies_(std::move(vocabularies)) {}

  static Corpus read_with(const std::filesystem::path& path, const CorpusOptions& options,
                          const std::optional<Vocabularies>& given) {
    PairReader reader(path, options.bad_lines);
    options.text().check(path.string());
    Side source(options.text().source_side(), options.sampling),
        target(options.text().target_side(), options.sampling);
    SentencePair pair;
    while ((options.max_pairs == 0 || source.sentences.size() < options.max_pairs) && reader.next(pair)) {
      source.add(pair.source);
      target.add(pair.target);
    }
    Corpus corpus = make(path.string(), source, target, options, given);
    corpus.skipped_ = reader.skipped();
    return corpus;
  }

  static Corpus make(const std::string& where, const Side& source, const Side& target,
                     const CorpusOptions& options, const std::optional<Vocabularies>& given) {
    if (options.extend && !given)
      fail("CorpusOptions.extend", "vocabularies to extend", "none",
           "Corpus::read(path, vocabularies, options) takes them");
    if (options.sampling.best == 0) fail("SubwordSampling.best", "at least 1", "0");
    if (source.sentences.empty()) fail(where, "at least one sentence pair", "none");
    const auto tokens_of = [&](const Side& side, const Vocabulary* known) {
      if (known == nullptr) return side.statistics.vocabulary(options.min_frequency);
      return options.extend ? known->extended(side.statistics.vocabulary(options.min_frequency)) : *known;
    };
    Corpus corpus(Vocabularies{tokens_of(source, given ? &given->source : nullptr),
                               tokens_of(target, given ? &given->target : nullptr), options.text()});
    const auto number = [&](const Side& side, const Vocabulary& vocabulary, Rows& rows) {
      std::vector<Token> id_of;  // of each number of the counter
      const TokenCounter& counter = side.statistics.counter();
      for (std::size_t i = 0; i < counter.size(); ++i) id_of.push_back(vocabulary.id(counter.token(i)));
      rows.reserve(side.sentences.size());
      for (const auto& [numbers, first] : side.sentences) {
        std::vector<Token> row;
        row.reserve(numbers.size() + 1);
        for (const std::uint32_t i : numbers) row.push_back(id_of[i]);
        if (first < numbers.size())
          row[first] = vocabulary.id(detail::truecased(counter.token(numbers[first]), vocabulary));
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
    if (options.sampling.active() && !source.samples && !target.samples)
      fail(where, "subwords on a side, where segmentations are sampled", "none");
    if (!(options.sampling.alpha >= 0))
      fail(where, "an alpha of at least 0", detail::number_text(options.sampling.alpha));
    corpus.sampling_ = options.sampling;
    corpus.source_text_ = source.kept;
    corpus.target_text_ = target.kept;
    return corpus;
  }

  std::vector<Token> sampled(const TextSide& side, const Vocabulary& vocabulary,
                             const std::vector<std::string>& sentences, const Rows& rows, std::size_t i,
                             random::Key key) const {
    if (sentences.empty() || !sampling_.active()) return rows[i];
    std::vector<Token> row = vocabulary.encode(side.subwords->sample(sentences[i], sampling_, key));
    row.push_back(reserved::eos);
    const std::size_t most =
        vocabularies_.text.max_length == 0 ? TextOptions::longest : vocabularies_.text.max_length;
    if (row.size() > most) row.resize(most);
    return row;
  }

  Vocabularies vocabularies_;
  Rows source_, target_;
  SubwordSampling sampling_;
  std::vector<std::string> source_text_, target_text_;  // folded, of sides that are split anew
  std::size_t skipped_ = 0;
};

}  // namespace bahdanau
