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
#include <bahdanau/text/vocabularies.hpp>
#include <bahdanau/train/batches.hpp>
#include <bahdanau/train/trainable.hpp>

namespace bahdanau {

/// Tab-separated pairs, read when they are needed. It remembers where every `block`-th of them begins and, in
/// a byte each, about how long they are. Its rows are those of `Corpus::read(path, vocabularies)`.
class CorpusFile {
 public:
  /// Pairs between two places that it remembers.
  static constexpr std::size_t block = 16;

  /// Reads the file once, to find its pairs. Throws as `Corpus::read` does for what is no pair.
  static CorpusFile open(const std::filesystem::path& path, Vocabularies vocabularies,
                         BadLines bad_lines = BadLines::fail) {
    CorpusFile corpus(path, std::move(vocabularies), bad_lines);
    corpus.find_pairs();
    if (corpus.size() == 0) fail(path.string(), "at least one sentence pair", "none");
    return corpus;
  }

  std::size_t size() const { return lengths_.size(); }
  const Vocabularies& vocabularies() const { return vocabularies_; }
  std::size_t skipped_lines() const { return skipped_; }

  /// One pair, from the file. Many threads may ask at once.
  SentencePair pair(std::size_t i) const {
    if (i >= size()) fail(path_.string(), "a pair below " + detail::text(size()), detail::text(i));
    const std::size_t begin = places_[i / block];
    const std::size_t end = i / block + 1 < places_.size() ? places_[i / block + 1] : bytes_;
    std::string text(end - begin, '\0');
    detail::read_at(path_, *file_, begin, std::as_writable_bytes(std::span(text.data(), text.size())));
    std::istringstream stream(std::move(text));
    PairReader reader(stream, path_.string(), bad_lines_);
    SentencePair found;
    for (std::size_t k = 0; k <= i % block; ++k)
      if (!reader.next(found))
        fail(path_.string(), "the pairs that it had when it was opened", "fewer", "it has changed since");
    return found;
  }
  /// Its rows: tokens with `<eos>`, cut to `max_length` where there is one.
  std::vector<Token> source_row(const SentencePair& pair) const {
    return row(vocabularies_.source.encode(vocabularies_.source_tokens(pair.source)));
  }
  std::vector<Token> target_row(const SentencePair& pair) const {
    return row(vocabularies_.target.encode(vocabularies_.target_tokens(pair.target)));
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
  CorpusFile(const std::filesystem::path& path, Vocabularies vocabularies, BadLines bad_lines)
      : path_(path), vocabularies_(std::move(vocabularies)), bad_lines_(bad_lines) {
    auto [file, bytes] = detail::open_regular_file(path);
    file_ = std::make_shared<const detail::FileHandle>(std::move(file));
    bytes_ = bytes;
    vocabularies_.text.check(path.string());
  }

  void find_pairs() {
    std::ifstream stream(path_, std::ios::binary);
    if (!stream) fail(path_.string(), "a file that can be opened", "none");
    PairReader reader(stream, path_.string(), bad_lines_);
    random::Key key{bytes_};
    for (const auto* vocabulary : {&vocabularies_.source, &vocabularies_.target})
      for (const std::string& token : vocabulary->tokens())
        key = {fingerprint(std::as_bytes(std::span(token.data(), token.size())), key)};
    SentencePair pair;
    std::uint64_t next = 0;  // where the line after the last pair begins, if a block does so with it
    while (reader.next(pair)) {
      if (lengths_.size() % block == 0) places_.push_back(next);
      lengths_.push_back(static_cast<std::uint8_t>(std::min<std::size_t>(255, pair.target.size() / 4)));
      for (const std::string* text : {&pair.source, &pair.target})
        key = {fingerprint(std::as_bytes(std::span(text->data(), text->size())), key)};
      if (lengths_.size() % block == 0) next = position(stream);
    }
    skipped_ = reader.skipped();
    fingerprint_ = key;
    lengths_.shrink_to_fit();
    places_.shrink_to_fit();
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
  std::vector<std::uint64_t> places_;  // of every block-th pair
  std::vector<std::uint8_t> lengths_;
  random::Key fingerprint_;
};

static_assert(TrainingData<CorpusFile, Batch>);

}  // namespace bahdanau
