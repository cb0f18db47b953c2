// How a string from outside stands in an error message: in quotes, on one line, and never long.
// Names in files are written by strangers, so what is not plain text is shown as escapes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <utf8proc.h>

#include <bahdanau/core/digits.hpp>

namespace bahdanau::detail {

/// The text in double quotes, control characters and bytes that are not UTF-8 as `\x1b`, cut with `...` after
/// about 80 bytes.
inline std::string quote(std::string_view text) {
  constexpr std::size_t longest = 80, longest_code_point = 4;
  const bool cut = text.size() > longest;
  if (cut) {
    std::size_t end = longest;  // back to the start of a code point, so that the message stays UTF-8
    while (end > longest - longest_code_point && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U)
      --end;
    text = text.substr(0, end);
  }
  std::string result = "\"";
  while (!text.empty()) {
    utf8proc_int32_t value = 0;
    const auto found = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                        static_cast<utf8proc_ssize_t>(text.size()), &value);
    const std::size_t bytes = found > 0 ? static_cast<std::size_t>(found) : 1;
    if (found <= 0 || value < 0x20 || (value >= 0x7F && value < 0xA0)) {
      for (const char c : text.substr(0, bytes))
        result.append("\\x").append(hex_byte(static_cast<unsigned char>(c)));
    } else {
      if (value == '"' || value == '\\') result += '\\';
      result.append(text.substr(0, bytes));
    }
    text.remove_prefix(bytes);
  }
  return result.append(cut ? "...\"" : "\"");
}

}  // namespace bahdanau::detail
