// Numbers as text, with a point whatever the locale.
// For pictures, tables and messages; nothing here rounds more than it says.
#pragma once

#include <charconv>
#include <string>
#include <string_view>

namespace bahdanau::detail {

/// The shortest digits that read back as the same number.
template <class Number>
std::string exact_digits(Number value) {
  char buffer[64];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr};
}

/// A number with a fixed count of decimals, and no negative zero.
inline std::string fixed_digits(double value, int decimals) {
  char buffer[400];  // the largest double has 309 digits before the point
  auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed, decimals).ptr;
  std::string result(buffer, end);
  return result.find_first_not_of("-0.") == result.npos && result.front() == '-' ? result.substr(1) : result;
}

/// A byte as two hexadecimal digits: `1b`.
inline std::string hex_byte(unsigned byte) {
  constexpr std::string_view digits = "0123456789abcdef";
  return {digits[byte >> 4U & 0xFU], digits[byte & 0xFU]};
}

}  // namespace bahdanau::detail
