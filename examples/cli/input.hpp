// What commands read, and what they check alike before and after a model has seen it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <iostream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include <bahdanau/core/error.hpp>
#include <bahdanau/decode/constraints.hpp>
#include <bahdanau/text/lines.hpp>
#include <bahdanau/text/normalize.hpp>
#include <bahdanau/text/pairs.hpp>
#include <bahdanau/text/tokenize.hpp>

#include "any_model.hpp"

namespace cli {

/// Reads sentences, one per line.
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

  /// The number of the line that was read last: 1 for the first, 0 before it.
  std::size_t line() const { return lines_.line(); }
  /// `name:line` of it.
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
class BatchBudget {
 public:
  explicit BatchBudget(std::size_t sentences) : sentences_(sentences) {}
  bool left() const { return sentences_ > 0 && bytes_ < (1 << 16); }
  void take(std::string_view sentence) {
    --sentences_;
    bytes_ += sentence.size();
  }

 private:
  std::size_t sentences_, bytes_ = 0;
};

/// The next lines of a reader, at most `count`: `fill(line, budget)` reads one, says whether there was one,
/// and takes what it costs. What is wrong with a line becomes its `problem`; without `keep_going` it is the
/// last.
template <class Line, class Reader, class Fill>
std::vector<Line> read_lines(const Reader& reader, std::size_t count, bool keep_going, Fill fill) {
  std::vector<Line> lines;
  BatchBudget budget(count);
  while (budget.left()) {
    const std::size_t before = reader.line();
    Line line;
    try {
      if (!fill(line, budget)) break;
    } catch (const bd::Error& e) {
      if (reader.line() == before) throw;  // it is not about a line
      budget.take({});
      line.problem = e.what();
    }
    lines.push_back(std::move(line));
    if (!lines.back().problem.empty() && !keep_going) break;
  }
  return lines;
}

/// Throws for a source of more than `longest` tokens, or that one of d2l's final-state rule has no room for.
inline void check_length(const AnyModel& model, const std::string& source, const std::string& place,
                         std::size_t longest = bd::TextOptions::longest) {
  const bd::TextOptions& text = model.vocabularies().text;
  const bool padded = model.config().final_state == bd::FinalState::padded && text.max_length <= longest;
  const std::size_t most = padded ? text.max_length : longest;
  if (source.size() < most) return;  // a token has at least one byte
  const std::size_t tokens = bd::count_tokens(source, text.source_side()) + 1;
  if (tokens > most)
    bd::fail(place, "a source of at most " + bd::detail::text(most) + " tokens with its <eos>",
             bd::detail::text(tokens),
             padded ? "the model was trained on rows of that length, padding included"
             : most < bd::TextOptions::longest ? "--max-source allows more"
                                               : "");
}

/// The same for both sides of a pair: forced decoding keeps logits for each token of the target.
inline void check_lengths(const AnyModel& model, const bd::SentencePair& pair, const std::string& place,
                          std::size_t longest) {
  check_length(model, pair.source, place, longest);
  const std::size_t tokens = pair.target.size() < longest
                                 ? 0
                                 : bd::count_tokens(pair.target, model.vocabularies().text.target_side()) + 1;
  if (tokens > longest)
    bd::fail(place, "a target of at most " + bd::detail::text(longest) + " tokens with its <eos>",
             bd::detail::text(tokens), "--max-source allows more");
}

/// What the library says of a sentence, with the place of its line, and options in place of limits.
inline std::string at_place(const std::string& place, std::string message) {
  if (const std::size_t reason = message.find(": expected"); reason != message.npos)
    message.erase(0, reason + 2);
  for (const auto& [limit, option] : {std::pair{"see Limits.memory", "--max-memory allows more"},
                                      std::pair{"see Limits.deadline", "--deadline allows more"}})
    if (const std::string_view name = limit; message.ends_with(name))
      message.replace(message.size() - name.size(), name.size(), option);
  return place + ": " + message;
}

/// Throws, with the option, for words that the model does not know, or that contradict one another: before
/// any line is read.
inline void check_words(const AnyModel& model, const Search& search) {
  try {
    std::visit([&](const auto& options) { bd::detail::Constraints(options, model.vocabularies()); }, search);
  } catch (const bd::Error& e) {
    const std::string message = e.what();
    const std::size_t reason = std::min(message.find(": expected"), message.size());
    for (const auto& [field, option] :
         {std::pair{".min_length", "--min-length"}, std::pair{".prefix", "--prefix"},
          std::pair{".forbidden", "--forbid"}, std::pair{".required", "--require"}})
      if (message.find(field) < reason) throw bd::Error(option + message.substr(reason));
    throw;
  }
}

/// Lines without an answer: said one by one on standard error, and counted.
class Unanswered {
 public:
  void add(const std::string& problem) {
    std::cerr << "bahdanau: " << problem << '\n';
    ++count_;
  }
  /// Throws if there were some, so that the exit code says it too.
  void check(const std::string& name, std::size_t lines) const {
    if (count_ > 0)
      bd::fail(name, "lines that can all be answered",
               bd::detail::text(count_) + " of " + bd::detail::text(lines) + " that cannot");
  }

 private:
  std::size_t count_ = 0;
};

/// Throws for a score that is no number: it would be no JSON either.
inline void check_finite(const bd::Translation& translation, const std::string& place,
                         const std::string& model) {
  if (!std::isfinite(translation.score))
    bd::fail(place, "a finite score", bd::detail::number_text(translation.score),
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
