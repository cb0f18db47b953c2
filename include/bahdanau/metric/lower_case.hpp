// Lower case of whole texts, as Python's `str.lower` has it; models fold letters one by one.
// The two differ in two letters: the Turkish dotted capital I, and the Greek sigma at the end of a word.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <utf8proc.h>

#include <bahdanau/text/normalize.hpp>

namespace bahdanau::detail {

/// Whether it is a letter that has a case.
inline bool is_cased(utf8proc_int32_t value) {
  const auto category = utf8proc_category(value);
  return category == UTF8PROC_CATEGORY_LU || category == UTF8PROC_CATEGORY_LL ||
         category == UTF8PROC_CATEGORY_LT;
}

/// Whether a word goes on behind it: accents, modifiers, and signs that stand inside words.
inline bool is_case_ignorable(utf8proc_int32_t value) {
  for (const utf8proc_int32_t sign : {0x27, 0x2E, 0x3A, 0xB7, 0x387, 0x55F, 0x5F4, 0x2018, 0x2019, 0x2024,
                                      0x2027, 0xFE13, 0xFE52, 0xFE55, 0xFF07, 0xFF0E, 0xFF1A})
    if (value == sign) return true;
  const auto category = utf8proc_category(value);
  return category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_ME ||
         category == UTF8PROC_CATEGORY_CF || category == UTF8PROC_CATEGORY_LM ||
         category == UTF8PROC_CATEGORY_SK;
}

/// Whether a word ends with the letter at a place: a letter comes before it, and none after it.
inline bool ends_word(const std::vector<utf8proc_int32_t>& values, std::size_t place) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(place);
  const auto before = std::find_if_not(std::make_reverse_iterator(at), values.rend(), is_case_ignorable);
  const auto after = std::find_if_not(at + 1, values.end(), is_case_ignorable);
  return before != values.rend() && is_cased(*before) && (after == values.end() || !is_cased(*after));
}

/// The text in lower case. Throws for text that is not UTF-8.
inline std::string lower_case(std::string_view line) {
  constexpr utf8proc_int32_t dotted_i = 0x130, capital_sigma = 0x3A3, final_sigma = 0x3C2;
  std::vector<utf8proc_int32_t> values;
  values.reserve(line.size());
  for (std::size_t i = 0; i < line.size();) {
    const auto [value, bytes] = code_point("text", line, i);
    values.push_back(value);
    i += bytes;
  }
  std::string result;
  result.reserve(line.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const utf8proc_int32_t value = values[i];
    if (value < 0x80) {
      result += static_cast<char>(value >= 'A' && value <= 'Z' ? value - 'A' + 'a' : value);
    } else if (value == dotted_i) {
      result += "i\xCC\x87";  // with its dot as an accent
    } else {
      const bool ends = value == capital_sigma && ends_word(values, i);
      utf8proc_uint8_t encoded[4];
      const auto length = utf8proc_encode_char(ends ? final_sigma : utf8proc_tolower(value), encoded);
      result.append(reinterpret_cast<const char*>(encoded), static_cast<std::size_t>(length));
    }
  }
  return result;
}

}  // namespace bahdanau::detail
