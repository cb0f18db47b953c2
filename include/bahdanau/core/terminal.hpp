// What a terminal says of itself.
// For bars and pictures that are drawn into one.
#pragma once

#include <cstddef>

// It defines NCC, which is the name of an argument in the LAPACK headers that a program may include after us.
#pragma push_macro("NCC")
#include <sys/ioctl.h>
#pragma pop_macro("NCC")

namespace bahdanau::detail {

/// Columns of the terminal that a file descriptor leads to; 80 where there is none, or where it does not say.
inline std::size_t terminal_columns(int descriptor) {
  winsize size{};
  return ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace bahdanau::detail
