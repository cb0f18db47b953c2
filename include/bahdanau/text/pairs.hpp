// Sentence pairs from tab-separated text, a line at a time, so that a large file needs no large memory.
// What is wrong with a line is said with the path and the line's number.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <istream>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <bahdanau/core/error.hpp>
#include <bahdanau/core/quote.hpp>
#include <bahdanau/text/lines.hpp>
#include <bahdanau/text/normalize.hpp>

namespace bahdanau {

/// A source sentence and a target sentence, as text.
struct SentencePair {
  std::string source, target;

  bool operator==(const SentencePair&) const = default;
};

namespace detail {

/// Whether nothing but spaces is in it, and what becomes one.
inline bool is_blank(std::string_view sentence) {
  while (!sentence.empty()) {
    const auto first = static_cast<unsigned char>(sentence.front());
    const std::size_t bytes = first <= 0x20U || first == 0x7FU       ? 1
                              : sentence.starts_with("\xC2\xA0")     ? 2  // NBSP
                              : sentence.starts_with("\xE2\x80\xAF") ? 3  // U+202F
                                                                     : 0;
    if (bytes == 0) return false;
    sentence.remove_prefix(bytes);
  }
  return true;
}

inline bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80U; });
}

/// Fills `pair` from a line without its end. Throws for a line that is none, with `where()` for its place.
template <class Where>
void split_pair(std::string_view line, Where where, SentencePair& pair) {
  const std::size_t tab = line.find('\t');
  if (tab == line.npos)
    fail(where(), "a source, a tab and a target", line.empty() ? "an empty line" : "a line without a tab");
  const std::size_t end = std::min(line.find('\t', tab + 1), line.size());
  if (!is_ascii(line.substr(0, end))) require_utf8(where(), line.substr(0, end));
  const auto side = [&](std::string_view which, std::string_view sentence) {
    if (is_blank(sentence)) fail(where(), "a " + std::string(which) + " sentence", "an empty one");
    return sentence;
  };
  const std::string_view source = side("source", line.substr(0, tab)),
                         target = side("target", line.substr(tab + 1, end - tab - 1));
  pair.source = source;
  pair.target = target;
}

}  // namespace detail

/// Whether a line that is no sentence pair is an exception, or is left out and counted.
enum class BadLines { fail, skip };

/// Reads lines of `source TAB target`; what follows a second tab is ignored. CRLF, a byte-order mark and a
/// last line without its end are harmless.
class PairReader {
 public:
  /// No sentence is as long as this many bytes; a file without line ends is.
  static constexpr std::size_t longest_line = detail::LineReader::longest;

  /// Opens a file, or whatever else can be read; throws with the operating system's reason if it cannot.
  explicit PairReader(const std::filesystem::path& path, BadLines bad_lines = BadLines::fail)
      : bad_lines_(bad_lines), file_(open(path)), lines_(*file_, path.string()) {}

  /// Reads a stream that outlives this object; `name` stands in messages for the path.
  PairReader(std::istream& stream, std::string name, BadLines bad_lines = BadLines::fail)
      : bad_lines_(bad_lines), lines_(stream, std::move(name)) {}

  /// Fills `pair` from the next line and says whether there was one. Throws `path:line: expected X, got Y`
  /// for a line without a tab, with an empty side, beyond `longest_line` or not in UTF-8; another call goes
  /// on with the line after it.
  bool next(SentencePair& pair) {
    while (lines_.next()) {
      try {
        detail::split_pair(
            lines_.line_text(), [&] { return where(); }, pair);
        return true;
      } catch (const Error&) {
        if (bad_lines_ == BadLines::fail) throw;
        ++skipped_;
      }
    }
    return false;
  }

  /// The number of the line that was read last: 1 for the first, 0 before it.
  std::size_t line() const { return lines_.line(); }
  /// `path:line` of that line, for messages about it.
  std::string where() const { return lines_.where(); }
  /// How many lines `BadLines::skip` has left out.
  std::size_t skipped() const { return skipped_; }

 private:
  static std::unique_ptr<std::istream> open(const std::filesystem::path& path) {
    std::error_code unknown;
    if (std::filesystem::is_directory(path, unknown)) fail(path.string(), "a file", "a directory");
    auto file = std::make_unique<std::ifstream>(path, std::ios::binary);
    if (!*file)
      fail(path.string(), "a file that can be opened", detail::quote(std::generic_category().message(errno)));
    return file;
  }

  BadLines bad_lines_;
  std::unique_ptr<std::istream> file_;  // null for a stream of the caller's
  detail::LineReader lines_;
  std::size_t skipped_ = 0;
};

}  // namespace bahdanau
