// What commands read, and what they check alike before and after a model has seen it.
#pragma once

#include <cmath>
#include <cstddef>
#include <filesystem>
#include <iostream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <bahdanau/core/error.hpp>
#include <bahdanau/text/lines.hpp>
#include <bahdanau/text/normalize.hpp>
#include <bahdanau/text/pairs.hpp>
#include <bahdanau/text/tokenize.hpp>

#include "any_model.hpp"

namespace cli {

/// Reads sentences, a line each.
class SentenceReader {
 public:
  /// Reads a stream that outlives this object; `name` stands in messages for the path.
  SentenceReader(std::istream& stream, std::string name) : lines_(stream, std::move(name)) {}

  /// Fills `sentence` from the next line and says whether there was one. Throws `name:line: expected X, got
  /// Y` for a line that is not in UTF-8, or that no sentence is as long as.
  bool next(std::string& sentence) {
    if (!lines_.next()) return false;
    sentence = lines_.line_text();
    bd::detail::require_utf8(where(), sentence);
    return true;
  }

  /// `name:line` of the line that was read last.
  std::string where() const { return lines_.where(); }

 private:
  bd::detail::LineReader lines_;
};

/// The pairs in a file; `-` is standard input.
inline bd::PairReader open_pairs(const std::filesystem::path& path,
                                 bd::BadLines bad_lines = bd::BadLines::fail) {
  return path == "-" ? bd::PairReader(std::cin, "<stdin>", bad_lines) : bd::PairReader(path, bad_lines);
}

/// How much goes into a batch: so many sentences, and fewer where they are long, because what a model keeps
/// of them grows with the square of their lengths.
class Room {
 public:
  explicit Room(std::size_t sentences) : sentences_(sentences) {}
  bool left() const { return sentences_ > 0 && bytes_ < (1 << 16); }
  void take(std::string_view sentence) {
    --sentences_;
    bytes_ += sentence.size();
  }

 private:
  std::size_t sentences_, bytes_ = 0;
};

/// Throws for a source that no model has room for, or that one of d2l's final-state rule has none for.
inline void check_length(const AnyModel& model, const std::string& source, const std::string& place) {
  const bd::TextOptions& text = model.vocabularies().text;
  const bool padded = model.config().final_state == bd::FinalState::padded;
  const std::size_t most = padded ? text.max_length : bd::TextOptions::longest;
  if (source.size() < most) return;  // a token has at least one byte
  const std::size_t tokens = bd::tokenize(source, text).size() + 1;
  if (tokens > most)
    bd::fail(place, "a source of at most " + std::to_string(most) + " tokens with its <eos>",
             std::to_string(tokens),
             padded ? "the model was trained on rows of that length, padding included" : "");
}

/// Throws for a score that is no number: it would be no JSON either.
inline void check_finite(const bd::Translation& translation, const std::string& place,
                         const std::string& model) {
  if (!std::isfinite(translation.score))
    bd::fail(place, "a finite score", std::to_string(translation.score),
             "the weights in " + model + " are not finite, or too large");
}

/// Throws if a file that would be written is one that is read.
inline void check_apart(const std::string& written, const std::filesystem::path& to, const std::string& read,
                        const std::filesystem::path& from) {
  std::error_code unknown;  // a file that is not there yet cannot be the other
  if (std::filesystem::equivalent(to, from, unknown))
    bd::fail(written, "another file than " + read, to.string() + " for both", "it would be overwritten");
}

}  // namespace cli
