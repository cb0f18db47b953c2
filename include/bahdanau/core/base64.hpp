// Bytes as text: base64 (RFC 4648), for what a file's JSON must carry.
// A model file keeps a subword model so.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <bahdanau/core/error.hpp>

namespace bahdanau::detail {

inline constexpr std::string_view base64_digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

inline std::string to_base64(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = bytes.size() - i < 3 ? bytes.size() - i : 3;
    std::uint32_t bits = 0;
    for (std::size_t j = 0; j < 3; ++j)
      bits = bits << 8U | (j < count ? static_cast<unsigned char>(bytes[i + j]) : 0U);
    for (std::size_t j = 0; j < 4; ++j) out += j <= count ? base64_digits[bits >> (18U - 6U * j) & 63U] : '=';
  }
  return out;
}

/// Throws for what is no base64, or was written by something sloppy: padding that is missing or not zero.
inline std::string from_base64(std::string_view where, std::string_view text) {
  const auto refuse = [&](const std::string& got) { fail(where, "base64", got); };
  if (text.size() % 4 != 0) refuse("text of " + detail::text(text.size()) + " characters");
  std::array<unsigned char, 256> digit{};
  digit.fill(64);
  for (std::size_t i = 0; i < base64_digits.size(); ++i)
    digit[static_cast<unsigned char>(base64_digits[i])] = static_cast<unsigned char>(i);
  std::string out;
  out.reserve(text.size() / 4 * 3);
  for (std::size_t i = 0; i < text.size(); i += 4) {
    const bool last = i + 4 == text.size();
    const std::size_t padding = !last || text[i + 3] != '=' ? 0 : text[i + 2] != '=' ? 1 : 2;
    std::uint32_t bits = 0;
    for (std::size_t j = 0; j < 4; ++j) {
      const unsigned char value = j < 4 - padding ? digit[static_cast<unsigned char>(text[i + j])] : 0U;
      if (value == 64) refuse("another character at offset " + detail::text(i + j));
      bits = bits << 6U | value;
    }
    if ((padding > 0 && (bits & 0xFFU) != 0) || (padding > 1 && (bits & 0xFF00U) != 0))
      refuse("bits behind its end");
    for (std::size_t j = 0; j < 3 - padding; ++j) out += static_cast<char>(bits >> (16U - 8U * j) & 255U);
  }
  return out;
}

}  // namespace bahdanau::detail
