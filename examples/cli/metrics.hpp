// The metrics that `evaluate --metric` asks for, over all of its translations.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace cli {

/// What they are, and what is compared.
struct MetricOptions {
  std::vector<std::string> names;
  bool join_sources = false;  // lines of one source are one sentence with several references
};

/// Collects translations for metrics; without any it keeps nothing.
class Metrics {
 public:
  explicit Metrics(const MetricOptions& options) : options_(options) {}

  void add(const std::string& source, const std::string& prediction, const std::string& reference);

  /// A line each of name TAB value TAB [low, high] TAB signature. In lower case if case is not to matter.
  std::string lines(bool lowercase) const;
  /// The same as `,"metrics":[{"name":…,"score":…,"low":…,"high":…,"signature":…},…]`; nothing without any.
  std::string json_text(bool lowercase) const;

 private:
  struct Sentence {
    std::string prediction;
    std::vector<std::string> references;
  };
  template <class Write>
  void each_result(bool lowercase, Write write) const;

  MetricOptions options_;
  std::vector<Sentence> sentences_;
  std::map<std::string, std::size_t> of_source_;  // its place among the sentences, where sources are joined
};

/// The names that there are.
std::vector<std::string> metric_names();

}  // namespace cli
