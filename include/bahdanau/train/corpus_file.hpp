// Sentence pairs that stay in their file, for corpora that do not fit into memory: a batch reads the lines
// that it needs. Every process of a training opens the same file.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <bahdanau/distributed/collectives.hpp>
#include <bahdanau/model/batch.hpp>
#include <bahdanau/text/corpus.hpp>
#include <bahdanau/text/pairs.hpp>
#include <bahdanau/text/token_statistics.hpp>
#include <bahdanau/text/vocabularies.hpp>
#include <bahdanau/train/batches.hpp>
#include <bahdanau/train/pair_file.hpp>
#include <bahdanau/train/trainable.hpp>

namespace bahdanau {

/// Tab-separated pairs, read when they are needed. It remembers where every `block`-th of them begins and a
/// checksum of the text up to the next: text that changes under it is an error. Its rows are those of
/// `Corpus::read(path, vocabularies)`.
class CorpusFile {
 public:
  /// Pairs between two places that it remembers.
  static constexpr std::size_t block = detail::PairFile::block;

  /// Reads the file to build the vocabularies that `Corpus::read(path, options)` builds, of which only
  /// distinct tokens are kept meanwhile, and once more to find its pairs. Throws as that does (where a row is
  /// too long, when it is met), where the file is a pipe, and where subwords would be sampled. Given several
  /// processes, which all call it, rank 0 alone reads the file, and tells the others what it has found.
  static CorpusFile open(const std::filesystem::path& path, const CorpusOptions& options = {},
                         const AnyCommunicator& all = {}) {
    return open_with(path, options, nullptr, all);
  }
  /// The same with vocabularies that are known, as `Corpus::read(path, vocabularies, options)` takes them.
  static CorpusFile open(const std::filesystem::path& path, const Vocabularies& vocabularies,
                         CorpusOptions options, const AnyCommunicator& all = {}) {
    Corpus::take_text(vocabularies.text, options);
    return open_with(path, options, &vocabularies, all);
  }
  static CorpusFile open(const std::filesystem::path& path, const Vocabularies& vocabularies,
                         BadLines bad_lines = BadLines::fail, const AnyCommunicator& all = {}) {
    return open(path, vocabularies, CorpusOptions{.bad_lines = bad_lines}, all);
  }

  std::size_t size() const { return pairs_.size(); }
  const Vocabularies& vocabularies() const { return vocabularies_; }
  std::size_t skipped_lines() const { return pairs_.skipped(); }

  /// One pair, from the file. Many threads may ask at once. Throws where the text around it is no longer what
  /// it was when the file was opened.
  SentencePair pair(std::size_t i) const { return pairs_.pair(i); }
  /// Its rows: tokens with `<eos>`, cut to `max_length` where there is one.
  std::vector<Token> source_row(const SentencePair& pair) const {
    return row(vocabularies_.source.encode(vocabularies_.source_tokens(pair.source)));
  }
  std::vector<Token> target_row(const SentencePair& pair) const {
    return row(vocabularies_.target.encode(vocabularies_.target_tokens(pair.target)));
  }

  /// Rows of some pairs.
  struct Sample {
    Corpus::Rows source, target;
    std::size_t cut_rows = 0;
  };
  /// At most so many pairs, evenly from all of the file, or all that there are.
  Sample sample(std::size_t most) const {
    Sample out;
    const std::size_t apart = (size() + most - 1) / most, longest = vocabularies_.text.max_length;
    const auto add = [&](Corpus::Rows& rows, const std::vector<std::string>& tokens,
                         const Vocabulary& vocabulary) {
      out.cut_rows += longest != 0 && tokens.size() + 1 > longest ? 1 : 0;
      rows.push_back(row(vocabulary.encode(tokens)));
    };
    for (std::size_t i = 0; i < size(); i += apart) {
      const SentencePair found = pair(i);
      add(out.source, vocabularies_.source_tokens(found.source), vocabularies_.source);
      add(out.target, vocabularies_.target_tokens(found.target), vocabularies_.target);
    }
    return out;
  }

  // What `TrainingData` asks for.
  friend Batch make_batch(const CorpusFile& corpus, std::span<const std::size_t> pairs) {
    return make_batch(corpus, pairs, BatchPart{pairs.size(), {0, pairs.size()}});
  }
  /// Rows of other processes are `<eos>` alone, in the widths of the whole batch. What is wrong with the text
  /// that one of them has read is thrown in all.
  friend Batch make_batch(const CorpusFile& corpus, std::span<const std::size_t> pairs,
                          const BatchPart& part) {
    struct Widths {
      std::uint64_t source = 0, target = 0;
    };
    Corpus::Rows source(part.batch, {reserved::eos}), target(part.batch, {reserved::eos});
    const auto read = [&] {
      Widths widths;
      for (std::size_t i = 0; i < pairs.size(); ++i) {
        const SentencePair pair = corpus.pair(pairs[i]);
        std::vector<Token>&s = source[part.rows.first + i], &t = target[part.rows.first + i];
        s = corpus.source_row(pair);
        t = corpus.target_row(pair);
        widths = {std::max<std::uint64_t>(widths.source, s.size()),
                  std::max<std::uint64_t>(widths.target, t.size())};
      }
      return widths;
    };
    const Widths widths = detail::ordered_sum_or_throw(part.all, read, [](const Widths& a, const Widths& b) {
      return Widths{std::max(a.source, b.source), std::max(a.target, b.target)};
    });
    return {Sequences::from_rows(source, widths.source), Sequences::from_rows(target, widths.target)};
  }
  /// In characters, not in tokens: about four of them count as one, and more than a thousand as a thousand.
  /// The first call reads all of the text, and keeps a byte for each pair.
  friend std::uint8_t length_of(const CorpusFile& corpus, std::size_t pair) { return corpus.length(pair); }
  friend std::uint64_t fingerprint(const CorpusFile& corpus) { return corpus.pairs_.fingerprint(); }

 private:
  static CorpusFile open_with(const std::filesystem::path& path, const CorpusOptions& options,
                              const Vocabularies* known, const AnyCommunicator& all) {
    if (options.sampling.active())
      fail("CorpusFile", "subwords that are not sampled", "CorpusOptions.sampling",
           "a Corpus keeps the text for that");
    if (options.extend && known == nullptr)
      fail("CorpusOptions.extend", "vocabularies to extend", "none", "CorpusFile::open takes them");
    const bool knows = known != nullptr && !options.extend;
    std::optional<detail::PairFile> pairs;
    std::optional<Vocabularies> words;
    throw_together(all, [&] {
      pairs.emplace(path, options.bad_lines);  // a pipe is refused before it is read
      if (knows) words = *known;
      if (!all.first()) return;
      if (!knows) words = vocabularies_of(path, options, known);
      words->text.check(path.string());
      pairs->find(options.max_pairs, key_of(*words));
      if (pairs->size() == 0) fail(path.string(), "at least one sentence pair", "none");
    });
    if (all.several()) {
      if (!knows) words = share(words, options.text(), all);
      detail::require_same_everywhere(all, path.string(),
                                      {{"bytes", detail::text(pairs->bytes())},
                                       {"max_pairs", detail::text(options.max_pairs)},
                                       {"bad_lines", options.bad_lines == BadLines::fail ? "fail" : "skip"},
                                       {"vocabularies", detail::text(key_of(*words).state)}});
      pairs->share(all);
    }
    return CorpusFile(std::move(*pairs), std::move(*words));
  }

  /// Gives rank 0's vocabularies to all.
  static Vocabularies share(const std::optional<Vocabularies>& of_first, const TextOptions& text,
                            const AnyCommunicator& all) {
    const auto tokens_of = [&](const Vocabulary* vocabulary) {
      std::string joined;  // no token has a line's end in it
      if (vocabulary != nullptr)
        for (const std::string& token : vocabulary->tokens()) joined.append(token).append(1, '\n');
      std::istringstream lines(broadcast(all, std::move(joined)));
      std::vector<std::string> tokens;
      for (std::string token; std::getline(lines, token);) tokens.push_back(token);
      return Vocabulary(std::move(tokens));
    };
    Vocabulary source = tokens_of(of_first ? &of_first->source : nullptr),
               target = tokens_of(of_first ? &of_first->target : nullptr);
    return {std::move(source), std::move(target), text};
  }

  static Vocabularies vocabularies_of(const std::filesystem::path& path, const CorpusOptions& options,
                                      const Vocabularies* known) {
    options.text().check(path.string());
    detail::TokenStatistics source(options.text().source_side()), target(options.text().target_side());
    PairReader reader(path, options.bad_lines);
    SentencePair pair;
    for (std::size_t i = 0; (options.max_pairs == 0 || i < options.max_pairs) && reader.next(pair); ++i) {
      source.add(pair.source);
      target.add(pair.target);
    }
    Vocabulary sources = source.vocabulary(options.min_frequency),
               targets = target.vocabulary(options.min_frequency);
    if (known != nullptr)
      return {known->source.extended(sources), known->target.extended(targets), options.text()};
    return {std::move(sources), std::move(targets), options.text()};
  }

  CorpusFile(detail::PairFile pairs, Vocabularies vocabularies)
      : pairs_(std::move(pairs)), vocabularies_(std::move(vocabularies)) {}

  static random::Key key_of(const Vocabularies& words) {
    random::Key key{0};
    for (const auto* vocabulary : {&words.source, &words.target})
      for (const std::string& token : vocabulary->tokens())
        key = {fingerprint(std::as_bytes(std::span(token.data(), token.size())), key)};
    return key;
  }

  /// About four bytes count as one. Found when somebody asks: most trainings do not.
  std::uint8_t length(std::size_t pair) const {
    std::call_once(lengths_->once, [&] {
      std::vector<std::uint8_t> found;
      found.reserve(size());
      pairs_.for_all([&](const SentencePair& p) {
        found.push_back(static_cast<std::uint8_t>(std::min<std::size_t>(255, p.target.size() / 4)));
      });
      lengths_->of_pairs = std::move(found);
    });
    return lengths_->of_pairs[pair];
  }

  std::vector<Token> row(std::vector<Token> tokens) const {
    tokens.push_back(reserved::eos);
    const std::size_t most = vocabularies_.text.max_length;
    if (most == 0 && tokens.size() > TextOptions::longest)
      fail(pairs_.path().string(), "rows of at most " + detail::text(TextOptions::longest) + " tokens",
           "one of " + detail::text(tokens.size()), "max_length cuts longer ones");
    if (most != 0 && tokens.size() > most) tokens.resize(most);
    return tokens;
  }

  struct Lengths {
    std::once_flag once;
    std::vector<std::uint8_t> of_pairs;
  };

  detail::PairFile pairs_;
  Vocabularies vocabularies_;
  std::shared_ptr<Lengths> lengths_ = std::make_shared<Lengths>();
};

static_assert(DivisibleData<CorpusFile, Batch>);

}  // namespace bahdanau
