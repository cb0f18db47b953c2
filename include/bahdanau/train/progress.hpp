// How training shows itself: a bar that redraws itself on a terminal, plain lines elsewhere, or nothing.
// It writes to standard error, so that results on standard output stay clean.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

#include <unistd.h>

#include <bahdanau/core/terminal.hpp>
#include <bahdanau/train/report.hpp>

namespace bahdanau {

/// What is shown while training.
enum class Progress {
  automatic,  // a bar if standard error is a terminal, else lines
  bar,
  lines,
  silent,
};

namespace detail {

/// `1:02:03`, `4:05` or `7 s`.
inline std::string duration_text(double seconds) {
  const auto s = static_cast<long long>(std::max(0.0, seconds) + 0.5);
  char text[32];
  if (s >= 3600)
    std::snprintf(text, sizeof text, "%lld:%02lld:%02lld", s / 3600, s / 60 % 60, s % 60);
  else if (s >= 60)
    std::snprintf(text, sizeof text, "%lld:%02lld", s / 60, s % 60);
  else
    std::snprintf(text, sizeof text, "%lld s", s);
  return text;
}

/// The numbers of an epoch, as bar and lines show them; a narrow terminal has no room for the speed.
inline std::string epoch_text(const EpochReport& r, std::uint64_t epochs, bool speed = true) {
  char text[200];
  int n = std::snprintf(text, sizeof text, "epoch %llu/%llu  loss %.4f  %.3f nats/token",
                        static_cast<unsigned long long>(r.epoch), static_cast<unsigned long long>(epochs),
                        r.training.d2l(), r.training.nats_per_token());
  std::string out(text, static_cast<std::size_t>(n));
  if (r.validation) {
    n = std::snprintf(text, sizeof text, "  validation %.3f%s", r.validation->nats_per_token(),
                      r.best ? " *" : "");
    out.append(text, static_cast<std::size_t>(n));
  }
  if (!speed) return out;
  n = std::snprintf(text, sizeof text, "  %.0f tokens/s", r.tokens_per_second());
  return out.append(text, static_cast<std::size_t>(n));
}

/// Draws what `Progress` asks for.
class ProgressDisplay {
 public:
  ProgressDisplay(Progress kind, std::uint64_t epochs, std::uint64_t first)
      : kind_(kind != Progress::automatic    ? kind
              : ::isatty(STDERR_FILENO) == 1 ? Progress::bar
                                             : Progress::lines),
        epochs_(epochs),
        first_(first) {}
  ~ProgressDisplay() { finish(); }
  ProgressDisplay(const ProgressDisplay&) = delete;
  ProgressDisplay& operator=(const ProgressDisplay&) = delete;

  /// After a batch: redraws the bar ten times a second.
  void batch(const EpochReport& so_far, std::size_t done, std::size_t batches) {
    if (kind_ != Progress::bar || since(drawn_) < 0.1) return;
    draw(so_far, static_cast<double>(done) / static_cast<double>(batches));
  }

  /// After an epoch, which may be the last although there should have been more. Lines come at most once a
  /// second, but the first and the last always.
  void epoch(const EpochReport& report, bool last = false) {
    if (kind_ == Progress::bar) draw(report, 1);
    if (kind_ != Progress::lines) return;
    const bool due = report.epoch == first_ || report.epoch == epochs_ || last || since(drawn_) >= 1;
    if (!due) return;
    std::fprintf(stderr, "%s  left %s\n", epoch_text(report, epochs_).c_str(), left(report.epoch, 1).c_str());
    drawn_ = Clock::now();
  }

  /// Leaves the bar as it is and goes to the next line.
  void finish() {
    if (kind_ == Progress::bar && shown_) std::fputc('\n', stderr);
    shown_ = false;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static double since(Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); }

  std::string left(std::uint64_t epoch, double part) const {
    const double done = static_cast<double>(epoch - first_) + part;
    const double todo = static_cast<double>(epochs_ - epoch) + 1 - part;
    return done <= 0 ? "?" : duration_text(since(start_) / done * todo);
  }

  void draw(const EpochReport& report, double part) {
    constexpr std::size_t widest = 20, narrowest = 5;
    // A line that reached the edge would wrap, and the next one would no longer be drawn over it.
    const std::size_t room = detail::terminal_columns(STDERR_FILENO) - 1;
    const std::string rest = "  left " + left(report.epoch, part);
    std::string text = epoch_text(report, epochs_) + rest;
    if (text.size() > room) text = epoch_text(report, epochs_, false) + rest;
    if (text.size() > room) text.resize(room);
    const std::size_t width = std::min(widest, room - text.size());  // of the bar and the space behind it
    std::string bar;
    if (width > narrowest) {
      const double whole = (static_cast<double>(report.epoch) - 1 + part) / static_cast<double>(epochs_);
      const auto full = static_cast<std::size_t>(whole * static_cast<double>(width - 1));
      for (std::size_t i = 0; i + 1 < width; ++i) bar += i < full ? "█" : "░";
      bar += ' ';
    }
    // Erase the line first: the new one may be shorter.
    std::fprintf(stderr, "\r\x1b[2K%s%s", bar.c_str(), text.c_str());
    std::fflush(stderr);
    shown_ = true;
    drawn_ = Clock::now();
  }

  Progress kind_;
  std::uint64_t epochs_, first_;
  Clock::time_point start_ = Clock::now(), drawn_{};
  bool shown_ = false;
};

}  // namespace detail
}  // namespace bahdanau
