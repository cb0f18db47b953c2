// Lines of text, one at a time, so that a large file needs no large memory.
// CRLF, a byte-order mark and a last line without its end are harmless.
#pragma once

#include <cstddef>
#include <istream>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <bahdanau/core/error.hpp>

namespace bahdanau::detail {

/// Reads a stream that outlives this object; `name` stands in messages for the path.
class LineReader {
 public:
  /// No sentence is as long as this many bytes; a file without line ends is.
  static constexpr std::size_t longest = std::size_t{1} << 20;

  LineReader(std::istream& stream, std::string name) : stream_(&stream), name_(std::move(name)) {
    if (!stream) fail(name_, "text that can be read", "a stream that has failed already");
  }

  /// Reads the next line and says whether there was one; throws if the stream breaks.
  bool next() {
    // Not std::getline, which would take a file without line ends into memory as a whole.
    stream_->getline(buffer_.get(), static_cast<std::streamsize>(longest + 1));
    const auto count = static_cast<std::size_t>(stream_->gcount());
    if (stream_->bad()) fail(name_, "text that can be read", "an error after line " + text(line_));
    cut_ = stream_->fail() && !stream_->eof();
    // A line's end is counted where there was one.
    line_text_ = {buffer_.get(), count - (stream_->good() ? 1 : 0)};
    if (line_ == 0 && line_text_.starts_with("\xEF\xBB\xBF")) line_text_.remove_prefix(3);
    if (stream_->eof() && line_text_.empty()) return false;
    ++line_;
    if (cut_) {
      stream_->clear();
      stream_->ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    }
    if (line_text_.ends_with('\r')) line_text_.remove_suffix(1);
    return true;
  }

  /// The line that was read last, without its end; throws `name:line: expected X, got Y` for a longer one
  /// than `longest`.
  std::string_view line_text() const {
    if (cut_) fail(where(), "a line of at most " + text(longest) + " bytes", "a longer one");
    return line_text_;
  }
  /// Its number: 1 for the first, 0 before it.
  std::size_t line() const { return line_; }
  /// `name:line` of it, for messages.
  std::string where() const { return name_ + ":" + text(line_); }

 private:
  std::istream* stream_;
  std::string name_;
  std::unique_ptr<char[]> buffer_ = std::make_unique_for_overwrite<char[]>(longest + 1);
  std::string_view line_text_;  // in the buffer
  bool cut_ = false;            // it goes on beyond it
  std::size_t line_ = 0;
};

}  // namespace bahdanau::detail
