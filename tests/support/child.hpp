// A function in a child of this process, as `fork` makes it: with all memory, and one thread.
// What hangs there ends after a while, by an alarm.
#pragma once

#include <exception>

#include <sys/wait.h>
#include <unistd.h>

namespace bahdanau::test {

/// Whether a child may start threads: the thread sanitizer ends one that does.
#if defined(__SANITIZE_THREAD__)
inline constexpr bool threads_after_fork = false;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
inline constexpr bool threads_after_fork = false;
#else
inline constexpr bool threads_after_fork = true;
#endif
#else
inline constexpr bool threads_after_fork = true;
#endif

/// What f returns in a child; -1 if it threw, hung for `seconds`, or was ended otherwise.
template <class F>
int exit_code_of_child(F f, unsigned seconds = 60) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(seconds);
    try {
      ::_exit(f());
    } catch (const std::exception&) {
      ::_exit(255);
    }
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) != 255 ? WEXITSTATUS(status) : -1;
}

}  // namespace bahdanau::test
