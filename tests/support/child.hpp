// A function in a child of this process, as `fork` makes it: with all memory, and one thread.
// What hangs there ends after a while, by an alarm.
#pragma once

#include <exception>

#include <sys/wait.h>
#include <unistd.h>

namespace bahdanau::test {

#if defined(__has_feature)
#define BAHDANAU_TEST_HAS(sanitizer) __has_feature(sanitizer)
#else
#define BAHDANAU_TEST_HAS(sanitizer) 0
#endif

/// Whether a child may start threads: the thread sanitizer ends one that does.
#if defined(__SANITIZE_THREAD__) || BAHDANAU_TEST_HAS(thread_sanitizer)
inline constexpr bool threads_after_fork = false;
#else
inline constexpr bool threads_after_fork = true;
#endif

/// Whether a child may allocate if another thread did so at the fork: the address sanitizer's allocator
/// leaves its locks locked there (with g++ 12, every run of the test that asks had a child that hung in it).
#if defined(__SANITIZE_ADDRESS__) || BAHDANAU_TEST_HAS(address_sanitizer)
inline constexpr bool allocation_after_fork = false;
#else
inline constexpr bool allocation_after_fork = true;
#endif

#undef BAHDANAU_TEST_HAS

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
