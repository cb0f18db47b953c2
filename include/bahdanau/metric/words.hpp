// Text as metrics see it: words between white space, code points and lines, all as Python has them.
// Python's, because the programs whose values ours are compared with are written in it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <utf8proc.h>

#include <bahdanau/metric/lower_case.hpp>
#include <bahdanau/text/normalize.hpp>

namespace bahdanau::detail {

/// Whether it separates words.
constexpr bool is_white_space(utf8proc_int32_t value) {
  if (value < 0x80)
    return value == ' ' || (value >= 0x09 && value <= 0x0D) || (value >= 0x1C && value <= 0x1F);
  return value == 0x85 || value == 0xA0 || value == 0x1680 || (value >= 0x2000 && value <= 0x200A) ||
         value == 0x2028 || value == 0x2029 || value == 0x202F || value == 0x205F || value == 0x3000;
}

/// What stands between white space, as parts of the text. Throws for text that is not UTF-8.
inline std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  std::size_t begin = 0;
  const auto end_word = [&](std::size_t end) {
    if (end > begin) words.push_back(line.substr(begin, end - begin));
  };
  for (std::size_t i = 0; i < line.size();) {
    const auto [value, bytes] = code_point("text", line, i);
    if (is_white_space(value)) {
      end_word(i);
      begin = i + bytes;
    }
    i += bytes;
  }
  end_word(line.size());
  return words;
}

/// The code points of a text, with `between` in place of the white space between words. Throws for text that
/// is not UTF-8.
inline std::vector<char32_t> characters_of(std::string_view line, std::u32string_view between) {
  std::vector<char32_t> characters;
  for (const std::string_view word : words_of(line)) {
    if (!characters.empty()) characters.insert(characters.end(), between.begin(), between.end());
    for (std::size_t i = 0; i < word.size();) {
      const auto [value, bytes] = code_point("text", word, i);
      characters.push_back(static_cast<char32_t>(value));
      i += bytes;
    }
  }
  return characters;
}

/// The same without white space.
inline std::vector<char32_t> letters_of(std::string_view line) { return characters_of(line, U""); }

/// The text without white space at its end. Throws for text that is not UTF-8.
inline std::string_view without_trailing_space(std::string_view line) {
  std::size_t end = 0;
  for (std::size_t i = 0; i < line.size();) {
    const auto [value, bytes] = code_point("text", line, i);
    i += bytes;
    if (!is_white_space(value)) end = i;
  }
  return line.substr(0, end);
}

/// The texts that a metric compares, the prediction first; in lower case if asked.
inline std::vector<std::string> lines_of(std::string_view prediction,
                                         std::span<const std::string_view> references, bool lowercase) {
  std::vector<std::string> lines;
  lines.reserve(references.size() + 1);
  const auto add = [&](std::string_view line) {
    lines.push_back(lowercase ? lower_case(line) : std::string(line));
  };
  add(prediction);
  for (const std::string_view reference : references) add(reference);
  return lines;
}

/// How a signature says whether case matters.
inline std::string case_signature(bool lowercase) { return lowercase ? "case:lc" : "case:mixed"; }

/// Lines as rows of what `split` makes of a line: tokens, words, characters.
template <class Split>
auto rows_of(const std::vector<std::string>& lines, Split split) {
  std::vector<decltype(split(lines.front()))> rows;
  rows.reserve(lines.size());
  for (const std::string& line : lines) rows.push_back(split(line));
  return rows;
}

}  // namespace bahdanau::detail
