// Writing JSON, compact: strings, numbers with as few digits as bring them back, objects and arrays.
// By hand as the reader is, and for the same reasons.
#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <concepts>
#include <string>
#include <string_view>

#include <bahdanau/core/digits.hpp>
#include <bahdanau/core/error.hpp>

namespace bahdanau::detail {

/// The text in quotes, UTF-8 as it is; whether it is UTF-8 is for the caller to check.
inline void append_json(std::string& out, std::string_view value) {
  out += '"';
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20U) {
      out.append("\\u00").append(hex_byte(byte));
    } else {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
  }
  out += '"';
}

/// A number; a float has the digits of a float, so 0.1f is 0.1. JSON has none that is not finite: it is null.
template <std::floating_point Number>
void append_json(std::string& out, Number value) {
  std::array<char, 32> buffer{};
  const char* end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  out += std::isfinite(value) ? std::string_view(buffer.data(), end) : "null";
}
template <std::integral Number>
void append_json(std::string& out, Number value) {
  if constexpr (std::same_as<Number, bool>) {
    out += value ? "true" : "false";
  } else {
    out += text(value);
  }
}

/// Grows an array: `JsonArray().add(1).add("two")` is `[1,"two"]`.
class JsonArray {
 public:
  template <class Value>
  JsonArray& add(const Value& value) {
    append_json(text_ += text_.empty() ? '[' : ',', value);
    return *this;
  }
  std::string text() const { return text_.empty() ? "[]" : text_ + ']'; }

 private:
  std::string text_;
};

/// Grows an object: `JsonObject().add("layers", 2)` is `{"layers":2}`; the keys are for the caller to keep
/// distinct.
class JsonObject {
 public:
  template <class Value>
  JsonObject& add(std::string_view key, const Value& value) {
    append_json(text_ += text_.empty() ? '{' : ',', key);
    append_json(text_ += ':', value);
    return *this;
  }
  std::string text() const { return text_.empty() ? "{}" : text_ + '}'; }

 private:
  std::string text_;
};

inline void append_json(std::string& out, const JsonArray& value) { out += value.text(); }
inline void append_json(std::string& out, const JsonObject& value) { out += value.text(); }

}  // namespace bahdanau::detail
