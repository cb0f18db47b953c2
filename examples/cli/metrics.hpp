// The metrics that `evaluate --metric` asks for, over all of its translations.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include <bahdanau/text/text_options.hpp>
#include <bahdanau/text/vocabularies.hpp>

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

  /// The first of them as an error, which is lower for better translations: 100 less the value of a metric
  /// that counts what is right.
  double error(const bahdanau::TextSide& target) const;
  /// A line each of name TAB value TAB [low, high] TAB signature. Where the target has no case, none is
  /// compared.
  std::string lines(const bahdanau::TextSide& target) const;
  /// The same as `,"metrics":[{"name":…,"score":…,"low":…,"high":…,"signature":…},…]`; nothing without any.
  std::string json_text(const bahdanau::TextSide& target) const;

 private:
  struct Sentence {
    std::string prediction;
    std::vector<std::string> references;
  };
  template <class Write>
  void each_result(const bahdanau::TextSide& target, Write write) const;

  MetricOptions options_;
  std::vector<Sentence> sentences_;
  std::map<std::string, std::size_t> of_source_;  // its place among the sentences, where sources are joined
};

/// What a translation is compared with: the reference as it is written where the model writes so, too; else
/// in the model's own spelling, in which references of another spelling could not be right.
std::string reference_for(const bahdanau::Vocabularies& vocabularies, const std::string& reference);

/// The names that there are.
std::vector<std::string> metric_names();

}  // namespace cli
