// A training as a page for a browser, which loads itself anew while it runs: loss, gradient, rate and speed,
// and sample translations by epoch with what they attend to.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <bahdanau/io/atomic_file.hpp>
#include <bahdanau/model/translation.hpp>
#include <bahdanau/plot/page/base_script.hpp>
#include <bahdanau/plot/page/document.hpp>
#include <bahdanau/plot/page/matrix_script.hpp>
#include <bahdanau/plot/page/report_script.hpp>
#include <bahdanau/plot/page/words_script.hpp>
#include <bahdanau/train/report.hpp>

namespace bahdanau::plot {

/// What a report of a training shows. It grows with `add`, and stays small: of many batches it has means of
/// neighbours, of many epochs the samples of some.
class TrainingRecord {
 public:
  static constexpr std::size_t most_points = 2000, most_samples = 40;

  /// For `TrainerOptions::on_batch`.
  void add(const BatchReport& report) {
    const double within =
        report.batches == 0 ? 1 : static_cast<double>(report.batch) / static_cast<double>(report.batches);
    sum_.epoch += static_cast<double>(report.epoch) - 1 + within;
    sum_.loss += report.loss.nats_per_token();
    sum_.norm += report.gradient_norm;
    sum_.rate += report.rate;
    if (++summed_ < together_) return;
    points_.push_back(sum_.over(static_cast<double>(summed_)));
    sum_ = {};
    summed_ = 0;
    if (points_.size() < most_points) return;
    for (std::size_t i = 0; i < points_.size() / 2; ++i)
      points_[i] = (points_[2 * i] + points_[2 * i + 1]).over(2);
    points_.resize(points_.size() / 2);
    together_ *= 2;
  }

  /// For `TrainerOptions::on_epoch`.
  void add(const EpochReport& report) { epochs_.push_back(report); }

  /// Translations of the same sentences after an epoch.
  void add_samples(std::uint64_t epoch, std::vector<Translation> translations) {
    samples_.push_back({epoch, std::move(translations)});
    if (samples_.size() <= most_samples) return;
    std::size_t kept = 1;  // the first, and every second one up to the last
    for (std::size_t i = 2; i < samples_.size(); i += 2) samples_[kept++] = std::move(samples_[i]);
    samples_.resize(kept);
  }

  struct Point {
    double epoch = 0, loss = 0, norm = 0, rate = 0;
    Point operator+(const Point& other) const {
      return {epoch + other.epoch, loss + other.loss, norm + other.norm, rate + other.rate};
    }
    Point over(double count) const { return {epoch / count, loss / count, norm / count, rate / count}; }
  };
  struct Samples {
    std::uint64_t epoch;
    std::vector<Translation> translations;
  };
  std::span<const Point> points() const { return points_; }
  std::span<const EpochReport> epochs() const { return epochs_; }
  std::span<const Samples> samples() const { return samples_; }

 private:
  std::vector<Point> points_;  // of batches, as many together as needed
  std::vector<EpochReport> epochs_;
  std::vector<Samples> samples_;
  Point sum_;
  std::size_t summed_ = 0, together_ = 1;
};

/// How a report looks. `refresh` are the seconds after which it loads itself anew; 0: it is finished.
struct ReportOptions {
  std::string title = "Training";
  std::size_t epochs = 0;  // that there will be; 0: unknown
  std::size_t refresh = 0;
};

/// The report as HTML. Throws for samples whose attention does not fit their tokens.
inline std::string report_html(const TrainingRecord& record, const ReportOptions& options = {}) {
  std::string json;
  detail::append_text(json += R"({"title":)", options.title);
  json += R"(,"total":)" + detail::text(options.epochs) + R"(,"refresh":)" + detail::text(options.refresh) +
          R"(,"epochs":[)";
  for (std::size_t i = 0; const EpochReport& epoch : record.epochs()) {
    json += (i++ == 0 ? R"({"epoch":)" : R"(,{"epoch":)") + detail::text(epoch.epoch);
    detail::append_rounded(json += R"(,"loss":)", epoch.training.nats_per_token(), 5);
    json += R"(,"validation":)";
    if (epoch.validation)
      detail::append_rounded(json, epoch.validation->nats_per_token(), 5);
    else
      json += "null";
    detail::append_rounded(json += R"(,"speed":)", epoch.tokens_per_second(), 0);
    json += '}';
  }
  json += R"(],"batches":[)";
  for (std::size_t i = 0; const TrainingRecord::Point& point : record.points()) {
    detail::append_rounded(json += i++ == 0 ? R"({"epoch":)" : R"(,{"epoch":)", point.epoch, 3);
    detail::append_rounded(json += R"(,"loss":)", point.loss, 5);
    detail::append_rounded(json += R"(,"norm":)", point.norm, 5);
    detail::append_rounded(json += R"(,"rate":)", point.rate, 8);
    json += '}';
  }
  json += R"(],"samples":[)";
  for (std::size_t i = 0; const TrainingRecord::Samples& samples : record.samples()) {
    json +=
        (i++ == 0 ? R"({"epoch":)" : R"(,{"epoch":)") + detail::text(samples.epoch) + R"(,"translations":[)";
    for (std::size_t j = 0; const Translation& translation : samples.translations) {
      detail::require_page_attention("report, epoch " + detail::text(samples.epoch), translation);
      detail::append_page_translation(json += j++ == 0 ? "\n" : ",\n", translation);
      detail::append_tokens(json += R"(,"source":)", translation.source);
      json += '}';
    }
    json += "]}";
  }
  json += "]}";
  const std::string style = "<style>" + std::string(detail::page_report_style) + "</style>\n";
  return detail::html_document(options.title, style, json,
                               {detail::page_base_script, detail::page_words_script,
                                detail::page_matrix_script, detail::page_report_script});
}

/// Writes that report; a reader sees the old one or the new one, never half.
inline void report(const std::filesystem::path& path, const TrainingRecord& record,
                   const ReportOptions& options = {}) {
  write_atomically(path, report_html(record, options));
}

}  // namespace bahdanau::plot
