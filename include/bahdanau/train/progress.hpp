// How training shows itself: lines, with a live bar below them on a terminal, or nothing.
// It writes to standard error, so that results on standard output stay clean.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <unistd.h>

#include <bahdanau/core/digits.hpp>
#include <bahdanau/core/error.hpp>
#include <bahdanau/core/terminal.hpp>
#include <bahdanau/train/report.hpp>

namespace bahdanau {

/// What is shown while training. Lines, and warnings, stay; the bar is drawn over itself below them.
enum class Progress {
  automatic,  // lines and a bar if standard error is a terminal, else lines
  bar,
  lines,
  silent,  // warnings neither: the report has them
};

namespace detail {

/// `1:02:03`, `4:05` or `7 s`.
inline std::string duration_text(double seconds) {
  const auto s = static_cast<long long>(std::max(0.0, seconds) + 0.5);
  const auto two = [](long long n) { return (n < 10 ? "0" : "") + text(n); };
  if (s >= 3600) return text(s / 3600) + ":" + two(s / 60 % 60) + ":" + two(s % 60);
  if (s >= 60) return text(s / 60) + ":" + two(s % 60);
  return text(s) + " s";
}

/// The numbers of an epoch, as bar and lines show them; a narrow terminal has no room for all of them.
enum class Detail { all, no_speed, brief };
inline std::string epoch_text(const EpochReport& r, std::uint64_t epochs, const std::string& criterion,
                              Detail detail = Detail::all) {
  std::string out = "epoch " + text(r.epoch) + "/" + text(epochs) + "  ";
  if (detail != Detail::brief) out += "loss " + fixed_digits(r.training.d2l(), 4) + "  ";
  out += fixed_digits(r.training.nats_per_token(), 3) + (detail == Detail::brief ? " nats" : " nats/token");
  if (r.validation)
    out += (detail == Detail::brief ? "  valid " : "  validation ") +
           fixed_digits(r.validation->nats_per_token(), 3);
  if (r.measured) out.append("  ").append(criterion).append(" ").append(fixed_digits(*r.measured, 2));
  if (r.validation && r.best) out += " *";
  if (detail == Detail::all) out += "  " + fixed_digits(r.tokens_per_second(), 0) + " tokens/s";
  return out;
}

/// Draws what `Progress` asks for.
class ProgressDisplay {
 public:
  /// `criterion` is the name of what epochs are compared by, where that is not a loss.
  ProgressDisplay(Progress kind, std::uint64_t epochs, std::uint64_t first, std::string criterion = {})
      : kind_(kind != Progress::automatic    ? kind
              : ::isatty(STDERR_FILENO) == 1 ? Progress::bar
                                             : Progress::lines),
        epochs_(epochs),
        first_(first),
        criterion_(std::move(criterion)) {}
  ~ProgressDisplay() { finish(); }
  ProgressDisplay(const ProgressDisplay&) = delete;
  ProgressDisplay& operator=(const ProgressDisplay&) = delete;

  /// After a batch: redraws the bar ten times a second.
  void batch(const EpochReport& so_far, std::size_t done, std::size_t batches) {
    if (kind_ != Progress::bar || since(drawn_) < 0.1) return;
    draw(so_far, static_cast<double>(done) / static_cast<double>(batches));
  }

  /// After an epoch. Lines come about once a second: that of the first epoch, then of those that end when one
  /// is due, each after that of the best one on the validation set since the last line. `finish` adds the
  /// last epoch's.
  void epoch(const EpochReport& report) {
    if (kind_ == Progress::silent) return;
    Line line{report, left(report.epoch, 1)};
    if (report.validation && report.best) best_ = line;
    if (report.epoch == first_ || since(written_) >= 1) {
      write(line);
    } else {
      last_ = std::move(line);
    }
    if (kind_ == Progress::bar && report.epoch < epochs_) draw(report, 1);
  }

  /// One line that says what may be wrong, and what to do.
  void warn(std::string_view what) {
    if (kind_ == Progress::silent) return;
    erase();
    say("bahdanau: warning: " + std::string(what));
  }

  /// Takes the bar away; what is left are lines, the last epoch's among them.
  void finish() {
    if (last_) write(Line(*last_));
    erase();
  }

 private:
  using Clock = std::chrono::steady_clock;
  static double since(Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); }

  /// What stays of an epoch.
  struct Line {
    EpochReport report;
    std::string left;  // when it ended
  };

  static void say(const std::string& line) {
    std::fputs((line + "\n").c_str(), stderr);
    std::fflush(stderr);
  }
  void erase() {
    if (shown_) std::fputs("\r\x1b[2K", stderr);
    shown_ = false;
  }

  /// The numbers and the time that is left, with as much as the columns have room for, or the least there is.
  std::string fitted(const EpochReport& report, const std::string& rest, std::size_t columns) const {
    for (const Detail detail : {Detail::all, Detail::no_speed, Detail::brief})
      for (const std::string_view end : {std::string_view(rest), std::string_view()})
        if (std::string text = epoch_text(report, epochs_, criterion_, detail).append(end);
            text.size() <= columns)
          return text;
    return epoch_text(report, epochs_, criterion_, Detail::brief);
  }

  void write(const Line& line) {
    erase();
    const auto put = [&](const Line& l) {
      const std::string rest = "  left " + l.left;
      say(kind_ == Progress::bar ? fitted(l.report, rest, columns())
                                 : epoch_text(l.report, epochs_, criterion_) + rest);
    };
    if (best_ && best_->report.epoch < line.report.epoch) put(*best_);
    put(line);
    best_.reset();
    last_.reset();
    written_ = Clock::now();
  }

  std::string left(std::uint64_t epoch, double part) const {
    const double done = static_cast<double>(epoch - first_) + part;
    const double todo = static_cast<double>(epochs_ - epoch) + 1 - part;
    return done <= 0 ? "?" : duration_text(since(start_) / done * todo);
  }

  // A line that reached the edge would wrap, and the next one would no longer be drawn over it.
  static std::size_t columns() { return terminal_columns(STDERR_FILENO) - 1; }

  void draw(const EpochReport& report, double part) {
    constexpr std::size_t widest = 20, narrowest = 5;
    const std::size_t available = columns();
    std::string text = fitted(report, "  left " + left(report.epoch, part), available);
    if (text.size() > available) text.resize(available);
    // Of the bar and the space behind it.
    const std::size_t width = std::min(widest, available - text.size());
    std::string bar;
    if (width > narrowest) {
      const double whole = (static_cast<double>(report.epoch) - 1 + part) / static_cast<double>(epochs_);
      const auto full = static_cast<std::size_t>(whole * static_cast<double>(width - 1));
      for (std::size_t i = 0; i + 1 < width; ++i) bar += i < full ? "█" : "░";
      bar += ' ';
    }
    // Erase the line first: the new one may be shorter.
    std::fputs(("\r\x1b[2K" + bar + text).c_str(), stderr);
    std::fflush(stderr);
    shown_ = true;
    drawn_ = Clock::now();
  }

  Progress kind_;
  std::uint64_t epochs_, first_;
  std::string criterion_;
  Clock::time_point start_ = Clock::now(), drawn_{}, written_{};
  std::optional<Line> last_, best_;  // not written yet: of the last epoch, and of the best one
  bool shown_ = false;
};

}  // namespace detail
}  // namespace bahdanau
