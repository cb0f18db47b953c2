// The tokenisation 13a, with which BLEU is reported: that of NIST's script mteval-v13a, as sacrebleu has it.
// It takes text as people write it, and sets signs of ASCII apart; other scripts it splits at spaces alone.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <bahdanau/metric/words.hpp>

namespace bahdanau {
namespace detail {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// A full stop or a comma, which stay inside numbers.
constexpr bool is_stop(char c) { return c == '.' || c == ','; }

/// Whether 13a always sets it apart: the signs of ASCII but for the apostrophe, the hyphen and stops.
constexpr bool is_sign_13a(char c) {
  return (c > ' ' && c < 0x7F) && !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !is_digit(c) &&
         !is_stop(c) && c != '\'' && c != '-';
}

/// The line with something in place of each occurrence of something else.
inline std::string replaced(std::string_view line, std::string_view what, std::string_view by) {
  std::string result;
  result.reserve(line.size());
  std::size_t begin = 0;
  for (std::size_t i = line.find(what); i != line.npos; i = line.find(what, begin)) {
    result.append(line.substr(begin, i - begin)).append(by);
    begin = i + what.size();
  }
  return result.append(line.substr(begin));
}

/// Spaces around neighbours of which `first` and `second` are true. Pairs are taken from the left, and none
/// overlaps another: of `x..5` the first stop is set apart from the x, and the second is not its neighbour.
struct PairSpaces {
  bool (*first)(char);
  bool (*second)(char);
  std::string_view before, after;  // beside the one between them

  std::string operator()(std::string_view line) const {
    std::string result;
    result.reserve(2 * line.size());
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (i + 1 == line.size() || !first(line[i]) || !second(line[i + 1])) {
        result += line[i];
        continue;
      }
      result.append(before).append(1, line[i]).append(" ").append(1, line[i + 1]).append(after);
      ++i;
    }
    return result;
  }
};

/// A line by 13a, with spaces between its tokens, and beside some.
inline std::string spaced_13a(std::string_view line) {
  std::string text(without_trailing_space(line));
  text = replaced(text, "<skipped>", "");
  text = replaced(text, "-\n", "");  // a word that goes on in the next line
  text = replaced(text, "&quot;", "\"");
  text = replaced(text, "&amp;", "&");  // before the next two, which it may begin
  text = replaced(text, "&lt;", "<");
  text = replaced(text, "&gt;", ">");
  std::string apart = " ";
  for (const char c : text) is_sign_13a(c) ? apart.append({' ', c, ' '}) : apart.append(1, c);
  apart += ' ';
  const auto no_digit = [](char c) { return !is_digit(c); };
  const auto hyphen = [](char c) { return c == '-'; };
  apart = PairSpaces{no_digit, is_stop, "", " "}(apart);
  apart = PairSpaces{is_stop, no_digit, " ", ""}(apart);
  return PairSpaces{is_digit, hyphen, "", " "}(apart);
}

}  // namespace detail

/// The tokens of a line by 13a: `&quot;` and its like are the signs that they stand for, signs stand alone,
/// full stops and commas too unless digits are on both sides, and so does a hyphen behind a digit. Throws for
/// text that is not UTF-8.
inline std::vector<std::string> tokenize_13a(std::string_view line) {
  const std::string spaced = detail::spaced_13a(line);
  const std::vector<std::string_view> words = detail::words_of(spaced);
  return {words.begin(), words.end()};
}

}  // namespace bahdanau
