// A training that can be watched: lines of JSON for other tools, and a page that loads itself anew.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include <bahdanau/core/error.hpp>
#include <bahdanau/plot/report.hpp>
#include <bahdanau/train/report.hpp>

#include "any_model.hpp"
#include "json.hpp"
#include "output.hpp"

namespace cli {

/// One JSON object per line, for each batch and each epoch. A disk that is full ends the log, not the
/// training.
class TrainingLog {
 public:
  /// Begins the file anew, or goes on behind what it has.
  TrainingLog(const std::filesystem::path& path, bool append)
      : path_(path), file_(path, append ? std::ios::app : std::ios::trunc) {
    if (!file_) bd::fail("--log", "a file to write", path.string() + ", which cannot be written");
  }

  void add(const bd::BatchReport& report) {
    std::string line = R"({"event":"batch","epoch":)";
    json::append(line, report.epoch);
    json::append(line += R"(,"batch":)", report.batch);
    json::append(line += R"(,"batches":)", report.batches);
    json::append(line += R"(,"loss":)", report.loss.nats_per_token());
    json::append(line += R"(,"tokens":)", report.loss.tokens);
    json::append(line += R"(,"gradient_norm":)", report.gradient_norm);
    json::append(line += R"(,"rate":)", report.rate);
    json::append(line += R"(,"seconds":)", report.seconds);
    rate_ = report.rate;
    put(line);
  }
  void add(const bd::EpochReport& report) {
    std::string line = R"({"event":"epoch","epoch":)";
    json::append(line, report.epoch);
    json::append(line += R"(,"loss":)", report.training.nats_per_token());
    line += R"(,"validation_loss":)";
    if (report.validation)
      json::append(line, report.validation->nats_per_token());
    else
      line += "null";
    if (report.measured) json::append(line += R"(,"criterion":)", *report.measured);
    json::append(line += R"(,"tokens":)", report.training.tokens);
    json::append(line += R"(,"tokens_per_second":)", report.tokens_per_second());
    json::append(line += R"(,"rate":)", rate_);
    json::append(line += R"(,"seconds":)", report.seconds);
    line += std::string(R"(,"best":)") + (report.best ? "true" : "false");
    put(line);
  }

 private:
  void put(std::string& line) {
    file_ << (line += "}\n") << std::flush;  // whole, whenever somebody reads it or the training is killed
    if (file_ || failed_) return;
    failed_ = true;
    std::cerr << "bahdanau: " << path_.string() << " cannot be written any more; training goes on\n";
  }

  std::filesystem::path path_;
  std::ofstream file_;
  double rate_ = 0;  // of the last batch
  bool failed_ = false;
};

/// report.html, written after epochs, but not all the time, and for the last time when this goes.
class TrainingPage {
 public:
  /// `translate` gives translations of the same sentences, by the model as it is then.
  TrainingPage(std::filesystem::path path, std::string title, std::size_t epochs,
               std::function<std::vector<bd::Translation>()> translate)
      : path_(std::move(path)), title_(std::move(title)), epochs_(epochs), translate_(std::move(translate)) {
    write(seconds_apart);
  }
  TrainingPage(const TrainingPage&) = delete;
  TrainingPage& operator=(const TrainingPage&) = delete;
  ~TrainingPage() { finish(); }

  /// Writes the page as it stays; whether it is written.
  bool finish() noexcept {
    if (finished_) return !failed_;
    finished_ = true;
    try {
      write(0);
      failed_ = false;
    } catch (const std::exception& e) {
      if (!failed_) complain(e.what());
      failed_ = true;
    }
    return !failed_;
  }

  void add(const bd::BatchReport& report) { record_.add(report); }
  void add(const bd::EpochReport& report) {
    record_.add(report);
    // Translations take a tenth of the time at most, and those of the last epoch are there.
    if (const auto start = Clock::now(); start - sampled_ >= 10 * sampling_ || report.epoch == epochs_) {
      record_.add_samples(report.epoch, translate_());
      sampled_ = Clock::now();
      sampling_ = sampled_ - start;
    }
    if (Clock::now() - written_ < std::chrono::seconds(seconds_apart)) return;
    try {
      write(seconds_apart);
    } catch (const bd::Error& e) {  // a disk that is full ends the page, not the training
      if (!failed_) complain(std::string(e.what()) + "; training goes on");
      failed_ = true;
    }
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t seconds_apart = 2;

  void write(std::size_t refresh) {
    bd::plot::report(path_, record_, {.title = title_, .epochs = epochs_, .refresh = refresh});
    written_ = Clock::now();
  }

  std::filesystem::path path_;
  std::string title_;
  std::size_t epochs_;
  std::function<std::vector<bd::Translation>()> translate_;
  bd::plot::TrainingRecord record_;
  bool failed_ = false, finished_ = false;
  Clock::time_point written_{}, sampled_{};
  Clock::duration sampling_{};
};

}  // namespace cli
