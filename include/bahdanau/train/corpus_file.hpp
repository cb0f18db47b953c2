// Sentence pairs that stay in their file, for corpora that do not fit into memory: a batch reads the lines
// that it needs. Every process of a training opens the same file.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <bahdanau/io/file_handle.hpp>
#include <bahdanau/model/batch.hpp>
#include <bahdanau/text/corpus.hpp>
#include <bahdanau/text/pairs.hpp>
#include <bahdanau/text/token_statistics.hpp>
#include <bahdanau/text/vocabularies.hpp>
#include <bahdanau/train/batches.hpp>
#include <bahdanau/train/trainable.hpp>

namespace bahdanau {

/// Tab-separated pairs, read when they are needed. It remembers where every `block`-th of them begins and, in
/// a byte each, about how long they are; text that changes under it is an error. Its rows are those of
/// `Corpus::read(path, vocabularies)`.
class CorpusFile {
 public:
  /// Pairs between two places that it remembers.
  static constexpr std::size_t block = 16;

  /// Reads the file to build the vocabularies that `Corpus::read(path, options)` builds, of which only
  /// distinct tokens are kept meanwhile, and twice more, to find its pairs and for their checksums. Throws as
  /// that does (where a row is too long, when it is met), where the file is a pipe, and where subwords would
  /// be sampled.
  static CorpusFile open(const std::filesystem::path& path, const CorpusOptions& options = {}) {
    return open_with(path, options, nullptr);
  }
  /// The same with vocabularies that are known, as `Corpus::read(path, vocabularies, options)` takes them.
  static CorpusFile open(const std::filesystem::path& path, const Vocabularies& vocabularies,
                         CorpusOptions options) {
    Corpus::take_text(vocabularies.text, options);
    return open_with(path, options, &vocabularies);
  }
  static CorpusFile open(const std::filesystem::path& path, const Vocabularies& vocabularies,
                         BadLines bad_lines = BadLines::fail) {
    return open(path, vocabularies, CorpusOptions{.bad_lines = bad_lines});
  }

  std::size_t size() const { return lengths_.size(); }
  const Vocabularies& vocabularies() const { return vocabularies_; }
  std::size_t skipped_lines() const { return skipped_; }

  /// One pair, from the file. Many threads may ask at once. Throws where the text around it is no longer what
  /// it was when the file was opened.
  SentencePair pair(std::size_t i) const {
    if (i >= size()) fail(path_.string(), "a pair below " + detail::text(size()), detail::text(i));
    std::string text = block_text(i / block);
    if (checksum(text) != checksums_[i / block])
      fail(path_.string(), "the text that it had when it was opened",
           "other text from byte " + detail::text(places_[i / block]) + " on", "it has changed since");
    std::istringstream stream(std::move(text));
    PairReader reader(stream, path_.string(), bad_lines_);
    SentencePair found;
    for (std::size_t k = 0; k <= i % block; ++k)
      if (!reader.next(found))
        fail(path_.string(), "pair " + detail::text(i), "fewer", "it has changed while it was opened");
    return found;
  }
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
    Corpus::Rows source, target;
    for (const std::size_t i : pairs) {
      const SentencePair pair = corpus.pair(i);
      source.push_back(corpus.source_row(pair));
      target.push_back(corpus.target_row(pair));
    }
    return {Sequences::from_rows(source), Sequences::from_rows(target)};
  }
  /// In characters, not in tokens: about four of them count as one, and more than a thousand as a thousand.
  friend std::uint8_t length_of(const CorpusFile& corpus, std::size_t pair) { return corpus.lengths_[pair]; }
  friend std::uint64_t fingerprint(const CorpusFile& corpus) { return corpus.fingerprint_.state; }

 private:
  static CorpusFile open_with(const std::filesystem::path& path, const CorpusOptions& options,
                              const Vocabularies* known) {
    if (options.sampling.active())
      fail("CorpusFile", "subwords that are not sampled", "CorpusOptions.sampling",
           "a Corpus keeps the text for that");
    if (options.extend && known == nullptr)
      fail("CorpusOptions.extend", "vocabularies to extend", "none", "CorpusFile::open takes them");
    detail::open_regular_file(path);  // a pipe is refused before it is read
    CorpusFile corpus(path,
                      known != nullptr && !options.extend ? *known : vocabularies_of(path, options, known),
                      options.bad_lines);
    corpus.find_pairs(options.max_pairs);
    if (corpus.size() == 0) fail(path.string(), "at least one sentence pair", "none");
    return corpus;
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

  CorpusFile(const std::filesystem::path& path, Vocabularies vocabularies, BadLines bad_lines)
      : path_(path), vocabularies_(std::move(vocabularies)), bad_lines_(bad_lines) {
    auto [file, bytes] = detail::open_regular_file(path);
    file_ = std::make_shared<const detail::FileHandle>(std::move(file));
    bytes_ = bytes;
    vocabularies_.text.check(path.string());
  }

  void find_pairs(std::size_t most) {
    std::ifstream stream(path_, std::ios::binary);
    if (!stream) fail(path_.string(), "a file that can be opened", "none");
    PairReader reader(stream, path_.string(), bad_lines_);
    random::Key key{0};
    for (const auto* vocabulary : {&vocabularies_.source, &vocabularies_.target})
      for (const std::string& token : vocabulary->tokens())
        key = {fingerprint(std::as_bytes(std::span(token.data(), token.size())), key)};
    SentencePair pair;
    std::uint64_t next = 0;  // where the line after the last pair begins, if a block does so with it
    while ((most == 0 || lengths_.size() < most) && reader.next(pair)) {
      if (lengths_.size() % block == 0) places_.push_back(next);
      lengths_.push_back(static_cast<std::uint8_t>(std::min<std::size_t>(255, pair.target.size() / 4)));
      for (const std::string* text : {&pair.source, &pair.target})
        key = {fingerprint(std::as_bytes(std::span(text->data(), text->size())), key)};
      if (lengths_.size() % block == 0) next = position(stream);
    }
    end_ = position(stream);
    if (stream.eof() && std::filesystem::file_size(path_) != bytes_)
      fail(path_.string(), detail::text(bytes_) + " bytes", "others", "it has changed while it was opened");
    for (std::size_t b = 0; b < places_.size(); ++b) checksums_.push_back(checksum(block_text(b)));
    skipped_ = reader.skipped();
    fingerprint_ = key;
    lengths_.shrink_to_fit();
    places_.shrink_to_fit();
  }
  std::string block_text(std::size_t b) const {
    const std::uint64_t begin = places_[b], end = b + 1 < places_.size() ? places_[b + 1] : end_;
    std::string text(end - begin, '\0');
    detail::read_at(path_, *file_, begin, std::as_writable_bytes(std::span(text.data(), text.size())));
    return text;
  }
  static std::uint32_t checksum(const std::string& text) {
    return static_cast<std::uint32_t>(fingerprint(std::as_bytes(std::span(text.data(), text.size()))));
  }
  std::uint64_t position(std::istream& stream) const {
    return stream.eof() ? bytes_ : static_cast<std::uint64_t>(std::streamoff(stream.tellg()));
  }

  std::vector<Token> row(std::vector<Token> tokens) const {
    tokens.push_back(reserved::eos);
    const std::size_t most = vocabularies_.text.max_length;
    if (most == 0 && tokens.size() > TextOptions::longest)
      fail(path_.string(), "rows of at most " + detail::text(TextOptions::longest) + " tokens",
           "one of " + detail::text(tokens.size()), "max_length cuts longer ones");
    if (most != 0 && tokens.size() > most) tokens.resize(most);
    return tokens;
  }

  std::filesystem::path path_;
  Vocabularies vocabularies_;
  BadLines bad_lines_;
  std::shared_ptr<const detail::FileHandle> file_;
  std::size_t bytes_ = 0, skipped_ = 0;
  std::uint64_t end_ = 0;                 // of the last pair
  std::vector<std::uint64_t> places_;     // of every block-th pair
  std::vector<std::uint32_t> checksums_;  // of each block's text
  std::vector<std::uint8_t> lengths_;
  random::Key fingerprint_;
};

static_assert(TrainingData<CorpusFile, Batch>);

}  // namespace bahdanau
