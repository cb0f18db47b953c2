// What a piece of code writes to standard error, with C's functions or C++'s, or with the system's.
// Catch2 itself writes there only when a test is over.
#pragma once

#include <cstdio>
#include <string>

#include <fcntl.h>
#include <unistd.h>

#include "support/file_bytes.hpp"
#include "support/temporary_directory.hpp"

namespace bahdanau::test {

/// Runs f and returns what it wrote; standard error is what it was afterwards, even if f throws.
template <class F>
std::string captured_stderr(F f) {
  struct Redirected {
    TemporaryDirectory files;
    int before;
    Redirected() {
      std::fflush(stderr);
      before = ::dup(STDERR_FILENO);
      const int file = ::open((files / "stderr").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
      ::dup2(file, STDERR_FILENO);
      ::close(file);
    }
    void end() {
      if (before < 0) return;
      std::fflush(stderr);
      ::dup2(before, STDERR_FILENO);
      ::close(before);
      before = -1;
    }
    ~Redirected() { end(); }
  };
  Redirected redirected;
  f();
  redirected.end();
  return contents(redirected.files / "stderr");
}

}  // namespace bahdanau::test
