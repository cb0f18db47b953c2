// How a string from outside stands in an error message: in quotes, on one line, and never long.
// Names in files are written by strangers, so control characters are shown as escapes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace bahdanau::detail {

/// The text in double quotes, control characters as `\x1b`, cut with `...` after about 80 bytes.
inline std::string quote(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  constexpr std::size_t longest = 80;
  bool cut = text.size() > longest;
  if (cut) {
    std::size_t end = longest;  // back to the start of a code point, so that the message stays UTF-8
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
    text = text.substr(0, end);
  }
  std::string result = "\"";
  bool second = false;  // byte of U+0080 to 9F, which are 0xC2 and then what they are
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char character = text[i];
    const auto byte = static_cast<unsigned char>(character);
    const bool first =
        byte == 0xC2U && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0U;
    const bool escaped = byte < 0x20U || byte == 0x7FU || first || second;
    second = first;
    if (escaped) {
      result.append("\\x").append(1, digits[byte >> 4U]).append(1, digits[byte & 0xFU]);
    } else {
      if (character == '"' || character == '\\') result += '\\';
      result += character;
    }
  }
  return result.append(cut ? "...\"" : "\"");
}

}  // namespace bahdanau::detail
