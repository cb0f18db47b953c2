// The one door to standard output: what could not be written is an error, never lost in silence.
// A reader who has gone away, as `head` does, is a reason to stop, not to complain.
#pragma once

#include <cerrno>
#include <cstdio>
#include <iostream>
#include <string>
#include <string_view>
#include <system_error>

#include <bahdanau/core/digits.hpp>
#include <bahdanau/core/error.hpp>
#include <bahdanau/core/quote.hpp>

namespace cli {

/// Nobody reads standard output any more.
struct ClosedPipe {};

/// Writes to standard output at once; throws `ClosedPipe`, or `Error` for a full disk and the like.
inline void write(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return;
  if (errno == EPIPE) throw ClosedPipe{};
  bahdanau::fail("standard output", "room to write",
                 bahdanau::detail::quote(std::generic_category().message(errno)));
}

/// A line on standard error, at once: those of several processes do not mix.
inline void complain(const std::string& what) { std::cerr << ("bahdanau: " + what + "\n"); }

/// A number with so many digits behind the point.
inline std::string fixed(double number, int digits) { return bahdanau::detail::fixed_digits(number, digits); }

}  // namespace cli
