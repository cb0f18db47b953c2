// Sentences in one spelling: plain spaces, lower case, punctuation that stands by itself, as d2l has them.
// UTF-8 is checked on the way; ASCII, most of any corpus, never reaches utf8proc.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <utf8proc.h>

#include <bahdanau/core/digits.hpp>
#include <bahdanau/core/error.hpp>

namespace bahdanau {
namespace detail {

struct CodePoint {
  utf8proc_int32_t value;
  std::size_t bytes;
};

/// The code point at an offset inside the text; throws `where: expected UTF-8, got byte 0xff at offset 12`.
inline CodePoint code_point(std::string_view where, std::string_view line, std::size_t offset) {
  auto first = static_cast<unsigned char>(line[offset]);
  if (first < 0x80U) return {first, 1};
  utf8proc_int32_t value = 0;
  auto bytes = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(line.data()) + offset,
                                static_cast<utf8proc_ssize_t>(line.size() - offset), &value);
  if (bytes <= 0) fail(where, "UTF-8", "byte 0x" + hex_byte(first) + " at offset " + text(offset));
  return {value, static_cast<std::size_t>(bytes)};
}

/// Whether it steers a terminal or ends a line instead of being written: U+0000 to 1F and U+007F to 9F.
inline bool is_control(utf8proc_int32_t value) { return value < 0x20 || (value >= 0x7F && value < 0xA0); }

/// Throws unless the text is UTF-8.
inline void require_utf8(std::string_view where, std::string_view line) {
  for (std::size_t i = 0; i < line.size();) i += code_point(where, line, i).bytes;
}

/// The text, which is UTF-8, with a space for each control character.
inline std::string without_controls(std::string_view line) {
  std::string result;
  result.reserve(line.size());
  for (std::size_t i = 0; i < line.size();) {
    const auto [value, bytes] = code_point("text", line, i);
    result.append(is_control(value) ? " " : line.substr(i, bytes));
    i += bytes;
  }
  return result;
}

/// Whether a space belongs before it.
inline bool is_mark(char c) { return c == ',' || c == '.' || c == '!' || c == '?'; }

/// Calls `emit` with each code point in UTF-8, in lower case if asked; NBSP, U+202F and control characters
/// become spaces.
template <class Emit>
void fold(std::string_view where, std::string_view line, bool lowercase, Emit emit) {
  for (std::size_t i = 0; i < line.size();) {
    auto [value, bytes] = code_point(where, line, i);
    char ascii = line[i];
    if (bytes == 1) {
      if (lowercase && ascii >= 'A' && ascii <= 'Z') ascii = static_cast<char>(ascii - 'A' + 'a');
      emit(is_control(value) ? std::string_view(" ") : std::string_view(&ascii, 1));
    } else if (value == 0x00A0 || value == 0x202F || is_control(value)) {
      emit(std::string_view(" "));
    } else if (utf8proc_int32_t lower = lowercase ? utf8proc_tolower(value) : value; lower != value) {
      utf8proc_uint8_t encoded[4];
      auto length = static_cast<std::size_t>(utf8proc_encode_char(lower, encoded));
      emit(std::string_view(reinterpret_cast<const char*>(encoded), length));
    } else {
      emit(line.substr(i, bytes));
    }
    i += bytes;
  }
}

}  // namespace detail

/// The line with plain spaces, also for control characters, in lower case if asked, and with a space before
/// each comma, full stop, `!` and `?` that has none. Throws for text that is not UTF-8, with the offset of
/// the byte.
inline std::string normalize(std::string_view line, bool lowercase = true) {
  std::string result;
  result.reserve(line.size() + 8);
  detail::fold("normalize", line, lowercase, [&result](std::string_view character) {
    if (detail::is_mark(character.front()) && !result.empty() && result.back() != ' ') result += ' ';
    result.append(character);
  });
  return result;
}

}  // namespace bahdanau
