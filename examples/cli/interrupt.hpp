// Ctrl-C and SIGTERM while training or serving: the first asks it to end well, the second ends it at once.
// Handlers do no more than a handler may: set a flag, write a line, put the usual action back.
#pragma once

#include <atomic>
#include <csignal>
#include <string>
#include <string_view>

#include <signal.h>
#include <unistd.h>

namespace cli {

/// Training was asked to end before it was done.
struct Interrupted {
  int signal;
  bool resumable;    // there is a checkpoint of it
  std::string what;  // happened
};

/// While one of these lives, the first of the two signals is only taken note of. One at a time.
class InterruptHandlers {
 public:
  explicit InterruptHandlers(bool quiet) {
    asked_ = false;
    signal_ = 0;
    quiet_ = quiet;
    for (const int number : {SIGINT, SIGTERM}) {
      struct sigaction before {};
      ::sigaction(number, nullptr, &before);
      if (before.sa_handler == SIG_IGN) continue;  // as under nohup: it stays so
      struct sigaction action {};
      action.sa_handler = &take_note;
      action.sa_flags = SA_RESTART;
      ::sigaction(number, &action, nullptr);
    }
  }
  ~InterruptHandlers() {
    for (const int number : {SIGINT, SIGTERM}) {
      struct sigaction now {};
      ::sigaction(number, nullptr, &now);
      if (now.sa_handler == &take_note) std::signal(number, SIG_DFL);
    }
  }
  InterruptHandlers(const InterruptHandlers&) = delete;
  InterruptHandlers& operator=(const InterruptHandlers&) = delete;

  /// For `TrainerOptions::interrupt`.
  const std::atomic<bool>* flag() const { return &asked_; }
  int signal() const { return signal_; }

 private:
  static void take_note(int number) {
    if (asked_.exchange(true)) {  // the second: what would have happened without us
      std::signal(number, SIG_DFL);
      ::raise(number);  // comes when this handler returns
      return;
    }
    signal_ = number;
    if (quiet_) return;
    constexpr std::string_view line =
        "\nbahdanau: finishing this batch and writing the checkpoint; once more ends at once\n";
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
  }

  static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);
  inline static std::atomic<bool> asked_{false}, quiet_{false};
  inline static std::atomic<int> signal_{0};
};

}  // namespace cli
