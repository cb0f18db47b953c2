// What commands read, and what they check alike before and after a model has seen it.
#pragma once

#include <cmath>
#include <cstddef>
#include <istream>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <bahdanau/core/error.hpp>
#include <bahdanau/text/normalize.hpp>
#include <bahdanau/text/pairs.hpp>
#include <bahdanau/text/tokenize.hpp>

#include "any_model.hpp"

namespace cli {

/// Reads sentences, a line each. CRLF, a byte-order mark and a last line without its end are harmless.
class SentenceReader {
 public:
  /// Reads a stream that outlives this object; `name` stands in messages for the path.
  SentenceReader(std::istream& stream, std::string name) : stream_(stream), name_(std::move(name)) {}

  /// Fills `sentence` from the next line and says whether there was one. Throws `name:line: expected X, got
  /// Y` for a line that is not in UTF-8, or that no sentence is as long as.
  bool next(std::string& sentence) {
    stream_.getline(buffer_.get(), static_cast<std::streamsize>(longest_line + 1));
    const auto count = static_cast<std::size_t>(stream_.gcount());
    if (stream_.bad())
      bd::fail(name_, "text that can be read", "an error after line " + std::to_string(line_));
    const bool cut = stream_.fail() && !stream_.eof();
    std::string_view text(buffer_.get(), count - (stream_.good() ? 1 : 0));  // the line's end was counted
    if (stream_.eof() && text.empty()) return false;
    ++line_;
    if (cut)
      bd::fail(where(), "a line of at most " + std::to_string(longest_line) + " bytes", "a longer one");
    if (line_ == 1 && text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
    if (text.ends_with('\r')) text.remove_suffix(1);
    bd::detail::require_utf8(where(), text);
    sentence = text;
    return true;
  }

  /// `name:line` of the line that was read last.
  std::string where() const { return name_ + ":" + std::to_string(line_); }

 private:
  static constexpr std::size_t longest_line = bd::PairReader::longest_line;

  std::istream& stream_;
  std::string name_;
  std::unique_ptr<char[]> buffer_ = std::make_unique_for_overwrite<char[]>(longest_line + 1);
  std::size_t line_ = 0;
};

/// Throws for a source that a model of d2l's final-state rule has no room for.
inline void check_length(const AnyModel& model, const std::string& source, const std::string& place) {
  if (model.config().final_state == bd::FinalState::valid) return;
  const bd::TextOptions& text = model.vocabularies().text;
  const std::size_t tokens = bd::tokenize(source, text).size() + 1;
  if (tokens > text.max_length)
    bd::fail(place, "a source of at most " + std::to_string(text.max_length) + " tokens with its <eos>",
             std::to_string(tokens), "the model was trained on rows of that length, padding included");
}

/// Throws for a score that is no number: it would be no JSON either.
inline void check_finite(const bd::Translation& translation, const std::string& place,
                         const std::string& model) {
  if (!std::isfinite(translation.score))
    bd::fail(place, "a finite score", std::to_string(translation.score),
             "the weights in " + model + " are not finite, or too large");
}

}  // namespace cli
