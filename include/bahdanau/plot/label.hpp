// Tokens as labels of a picture: valid UTF-8, nothing invisible, and as wide as a reader sees them.
// Tokens come from models and texts of strangers, so a control character must not reach a terminal or XML.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include <utf8proc.h>

#include <bahdanau/core/digits.hpp>

namespace bahdanau::detail {

/// Calls `visit(value, bytes)` for each code point; a byte that is not UTF-8 has the value -1.
template <class Visit>
void each_code_point(std::string_view text, Visit visit) {
  while (!text.empty()) {
    utf8proc_int32_t value = -1;
    auto length = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                   static_cast<utf8proc_ssize_t>(text.size()), &value);
    auto bytes = static_cast<std::size_t>(std::max<utf8proc_ssize_t>(length, 1));
    visit(length > 0 ? value : -1, text.substr(0, bytes));
    text.remove_prefix(bytes);
  }
}

/// The token with control characters as `\x1b`, a mark without a letter on `◌`, and `U+FFFD`
/// for what cannot be shown or would reorder the text around it, marks of a direction among them.
inline std::string visible(std::string_view token) {
  std::string result;
  each_code_point(token, [&result](utf8proc_int32_t value, std::string_view bytes) {
    const bool marks = value == 0x200E || value == 0x200F || value == 0x061C;  // LRM, RLM, ALM
    const bool reorders =
        marks || (value >= 0x202A && value <= 0x202E) || (value >= 0x2066 && value <= 0x2069);
    const bool breaks = (value >= 0x80 && value < 0xA0) || value == 0x2028 || value == 0x2029;
    if ((value >= 0 && value < 0x20) || value == 0x7F) {
      result.append("\\x").append(hex_byte(static_cast<unsigned>(value)));
    } else if (value < 0 || reorders || breaks || value == 0xFFFE || value == 0xFFFF) {
      result.append("\xEF\xBF\xBD");
    } else {
      if (result.empty() && utf8proc_charwidth(value) == 0) result = "\u25CC";
      result.append(bytes);
    }
  });
  return result;
}

/// The columns that a code point takes in a terminal: 0 for a combining mark, 2 for a Chinese character.
inline std::size_t columns_of(utf8proc_int32_t value) {
  return static_cast<std::size_t>(std::max(utf8proc_charwidth(value), 0));
}

/// The columns that a text takes in a terminal.
inline std::size_t columns_of(std::string_view text) {
  std::size_t sum = 0;
  each_code_point(text, [&sum](utf8proc_int32_t value, std::string_view) { sum += columns_of(value); });
  return sum;
}

/// The width of a code point in ems, rather too wide than too narrow: those of DejaVu Sans, which few fonts
/// exceed.
inline double ems_of(utf8proc_int32_t value) {
  const std::size_t columns = columns_of(value);
  if (columns != 1) return columns == 0 ? 0.0 : 1.0;
  if (value >= 0x80) return value < 0x250 ? 0.7 : value >= 0x2010 && value < 0x2030 ? 1.0 : 0.85;
  auto among = [value](std::string_view set) { return set.find(static_cast<char>(value)) != set.npos; };
  if (among("ijlI'.,:;| ")) return 0.35;
  if (among("frt()[]!-/\\`\"")) return 0.45;
  if (among("mwMW%@")) return 1.0;
  if (among("<>=+~^#&GHNOQUD")) return 0.85;
  return value >= 'A' && value <= 'Z' ? 0.72 : 0.64;
}

/// The width of a text in ems, estimated.
inline double ems_of(std::string_view text) {
  double sum = 0;
  each_code_point(text, [&sum](utf8proc_int32_t value, std::string_view) { sum += ems_of(value); });
  return sum;
}

/// The text, or as much of its beginning as fits into `limit` together with an ellipsis.
/// `width(code point)` and `limit` are in the same unit.
template <class Number, class Width>
std::string elide(std::string_view text, Number limit, Width width) {
  Number total{};
  std::size_t kept = 0;
  const Number dots = width(0x2026);
  each_code_point(text, [&](utf8proc_int32_t value, std::string_view bytes) {
    total += width(value);
    if (total + dots <= limit) kept = static_cast<std::size_t>(bytes.data() - text.data()) + bytes.size();
  });
  return total <= limit ? std::string(text) : std::string(text.substr(0, kept)).append("\u2026");
}

}  // namespace bahdanau::detail
