// The one exception type of the library, and the two helpers that throw it.
// Every message reads `where: expected X, got Y; hint`, in release builds too.
#pragma once

#include <concepts>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <bahdanau/core/digits.hpp>

namespace bahdanau {

/// What the library throws for bad input: a shape, a file, a sentence, an option.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message) : std::runtime_error(message) {}
};

/// Throws `Error("where: expected X, got Y; hint")`, or a kind of it; an empty hint leaves out the last part.
template <std::derived_from<Error> Kind = Error>
[[noreturn]] void fail(std::string_view where, std::string_view expected, std::string_view got,
                       std::string_view hint = {}) {
  std::string message;
  message.append(where).append(": expected ").append(expected).append(", got ").append(got);
  if (!hint.empty()) message.append("; ").append(hint);
  throw Kind(message);
}

namespace detail {

/// A number as it stands in a message.
inline std::string text(std::integral auto value) { return std::to_string(value); }
inline std::string text(std::string_view value) { return std::string(value); }

/// A number with as few digits as bring it back.
template <std::floating_point Number>
std::string number_text(Number value) {
  return value != value ? "nan" : exact_digits(value);  // not also "-nan"
}

/// Throws `where: expected X, got Y` unless both are equal; the usual check of a width or a count.
template <std::integral A, std::integral B>
void require_equal(std::string_view where, std::string_view what, A expected, B got) {
  if (std::cmp_equal(expected, got)) return;
  fail(where, std::string(what) + " " + text(expected), text(got));
}

}  // namespace detail
}  // namespace bahdanau
