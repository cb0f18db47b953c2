// Pairs of a text file by their numbers, without the text: where every 16th begins, and checksums.
// A pair is read when it is asked for, from the place where its block begins.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <bahdanau/core/random.hpp>
#include <bahdanau/distributed/collectives.hpp>
#include <bahdanau/io/file_handle.hpp>
#include <bahdanau/text/pairs.hpp>
#include <bahdanau/train/batches.hpp>

namespace bahdanau::detail {

/// A regular file of tab-separated pairs, as `PairReader` finds them. Text that changes under it is an error.
class PairFile {
 public:
  /// Pairs between two places that it remembers.
  static constexpr std::size_t block = 16;

  /// Opens the file; `find` is next.
  PairFile(const std::filesystem::path& path, BadLines bad_lines) : path_(path), bad_lines_(bad_lines) {
    auto [file, bytes] = open_regular_file(path);
    file_ = std::make_shared<const FileHandle>(std::move(file));
    bytes_ = bytes;
  }

  /// Reads it once, up to so many pairs, or all (0). `key` and the pairs decide the fingerprint.
  void find(std::size_t most, random::Key key) {
    std::ifstream stream(path_, std::ios::binary);
    if (!stream) fail(path_.string(), "a file that can be opened", "none");
    PairReader reader(stream, path_.string(), bad_lines_);
    SentencePair pair;
    while ((most == 0 || size_ < most) && reader.next(pair)) {
      if (size_ % block == 0) places_.push_back(end_);
      for (const std::string* side : {&pair.source, &pair.target})
        key = {bahdanau::fingerprint(std::as_bytes(std::span(side->data(), side->size())), key)};
      if (++size_ % block == 0) end_block(stream);
    }
    if (size_ % block != 0) end_block(stream);
    if (stream.eof() && std::filesystem::file_size(path_) != bytes_)
      fail(path_.string(), text(bytes_) + " bytes", "others", "it has changed while it was opened");
    skipped_ = reader.skipped();
    fingerprint_ = key.state;
    places_.shrink_to_fit();
    checksums_.shrink_to_fit();
  }

  /// Gives what rank 0 has found to all others; all have opened a file of the same size.
  void share(const AnyCommunicator& all) {
    for (std::uint64_t* number : {&size_, &skipped_, &fingerprint_, &end_})
      broadcast(all, bytes_to_change(*number));
    places_.resize((size_ + block - 1) / block);
    checksums_.resize(places_.size());
    broadcast(all, std::as_writable_bytes(std::span(places_)));
    broadcast(all, std::as_writable_bytes(std::span(checksums_)));
  }

  std::size_t size() const { return size_; }
  std::uint64_t bytes() const { return bytes_; }
  std::size_t skipped() const { return skipped_; }
  std::uint64_t fingerprint() const { return fingerprint_; }
  const std::filesystem::path& path() const { return path_; }

  /// One pair. Many threads may ask at once.
  SentencePair pair(std::size_t i) const {
    if (i >= size_) fail(path_.string(), "a pair below " + text(size_), text(i));
    SentencePair found;
    std::size_t at = i / block * block;
    for_block(i / block, [&](SentencePair& pair) {
      if (at == i) found = std::move(pair);
      return ++at <= i;
    });
    return found;
  }
  /// Calls f(pair) for all, in order.
  template <class F>
  void for_all(F f) const {
    for (std::size_t b = 0; b < places_.size(); ++b)
      for_block(b, [&](const SentencePair& pair) {
        f(pair);
        return true;
      });
  }

 private:
  /// Calls f(pair) for those of a block, while it returns true.
  template <class F>
  void for_block(std::size_t b, F f) const {
    const std::string block_text = read(places_[b], b + 1 < places_.size() ? places_[b + 1] : end_);
    if (checksum(block_text) != checksums_[b])
      fail(path_.string(), "the text that it had when it was opened",
           "other text from byte " + text(places_[b]) + " on", "it has changed since");
    std::string_view left = block_text;
    SentencePair pair;
    for (std::size_t i = b * block; i < std::min<std::size_t>(size_, (b + 1) * block);) {
      if (left.empty())
        fail(path_.string(), "pair " + text(i), "fewer", "it has changed while it was opened");
      const std::string_view line = left.substr(0, left.find('\n'));
      const bool first = b == 0 && left.size() == block_text.size(), taken = take(line, first, pair);
      left.remove_prefix(std::min(left.size(), line.size() + 1));
      if (!taken) continue;
      if (!f(pair)) return;
      ++i;
    }
  }
  /// Whether a line is a pair, and not one that is left out.
  bool take(std::string_view line, bool first, SentencePair& pair) const {
    const auto where = [&] { return path_.string(); };
    try {
      if (line.size() > PairReader::longest_line)
        fail(where(), "a line of at most " + text(PairReader::longest_line) + " bytes", "a longer one");
      if (first && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
      if (line.ends_with('\r')) line.remove_suffix(1);
      split_pair(line, where, pair);
      return true;
    } catch (const Error&) {
      if (bad_lines_ == BadLines::fail) throw;
      return false;
    }
  }

  void end_block(std::istream& stream) {
    end_ = stream.eof() ? bytes_ : static_cast<std::uint64_t>(std::streamoff(stream.tellg()));
    checksums_.push_back(checksum(read(places_.back(), end_)));
  }
  std::string read(std::uint64_t begin, std::uint64_t end) const {
    std::string found(end - begin, '\0');
    read_at(path_, *file_, begin, std::as_writable_bytes(std::span(found.data(), found.size())));
    return found;
  }
  static std::uint32_t checksum(const std::string& of) {
    return static_cast<std::uint32_t>(bahdanau::fingerprint(std::as_bytes(std::span(of.data(), of.size()))));
  }

  std::filesystem::path path_;
  BadLines bad_lines_;
  std::shared_ptr<const FileHandle> file_;
  std::uint64_t bytes_ = 0, size_ = 0, skipped_ = 0, fingerprint_ = 0;
  std::uint64_t end_ = 0;                 // of the last block
  std::vector<std::uint64_t> places_;     // where blocks begin
  std::vector<std::uint32_t> checksums_;  // of their text
};

}  // namespace bahdanau::detail
