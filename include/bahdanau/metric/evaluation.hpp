// A metric over a test set: its score, an interval for it, and a signature that says how it was computed.
// Sentences are counted one by one as they come; their texts are not kept.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <bahdanau/core/error.hpp>
#include <bahdanau/metric/bootstrap.hpp>
#include <bahdanau/metric/metric.hpp>
#include <bahdanau/version.hpp>

namespace bahdanau {

/// A metric's value on a test set.
struct MetricResult {
  std::string name;
  double score = 0;
  Interval interval = {};
  std::size_t sentences = 0;
  std::string
      signature;  // nrefs:1|bs:1000|seed:1|case:mixed|eff:no|tok:13a|smooth:exp|version:bahdanau-0.2.0
};

/// Collects what a metric counts for the sentences of a test set.
template <Metric M>
class Evaluation {
 public:
  using Statistics = typename M::Statistics;

  explicit Evaluation(M metric = {}) : metric_(std::move(metric)) {}

  /// Counts a sentence with one reference. Throws for text that is not UTF-8, with the sentence's number.
  void add(std::string_view prediction, std::string_view reference) {
    add(prediction, std::span<const std::string_view>(&reference, 1));
  }
  /// Counts a sentence with several references. Throws where there is none.
  void add(std::string_view prediction, std::span<const std::string_view> references) {
    if (references.empty()) fail(place(), "at least one reference", "none");
    try {
      statistics_.push_back(metric_.statistics(prediction, references));
    } catch (const Error& e) {
      throw Error(place() + ", " + e.what());
    }
    references_ = statistics_.size() == 1 || references_ == references.size() ? references.size() : varying;
  }
  void add(std::string_view prediction, std::span<const std::string> references) {
    const std::vector<std::string_view> views(references.begin(), references.end());
    add(prediction, std::span<const std::string_view>(views));
  }
  void add(std::string_view prediction, std::initializer_list<std::string_view> references) {
    add(prediction, std::span<const std::string_view>(references.begin(), references.size()));
  }

  const M& metric() const { return metric_; }
  /// Each sentence's statistics, in the order in which they were added.
  const std::vector<Statistics>& statistics() const { return statistics_; }
  /// The sum of them.
  Statistics sum() const {
    Statistics result{};
    for (const Statistics& sentence : statistics_) result += sentence;
    return result;
  }
  /// The metric's value.
  double score() const { return metric_.score(sum()); }

  /// The metric's value with its interval and signature. Throws where there are no sentences.
  MetricResult result(const Bootstrap& bootstrap = {}) const {
    bootstrap.check();
    detail::require_sentences(metric_.name(), statistics_.size());
    return {metric_.name(), score(), bootstrap_interval(metric_, statistics_, bootstrap), statistics_.size(),
            "nrefs:" + references_text() + "|bs:" + detail::text(bootstrap.resamples) +
                "|seed:" + detail::text(bootstrap.seed) + "|" + ending()};
  }

  /// How the score was computed, for who quotes it without an interval.
  std::string signature() const { return "nrefs:" + references_text() + "|" + ending(); }

 private:
  static constexpr std::size_t varying = 0;

  std::string place() const {
    std::string out(metric_.name());  // appended to: g++ 12 warns of a sum, without reason
    return out.append(", sentence ").append(detail::text(statistics_.size()));
  }
  std::string references_text() const { return references_ == varying ? "var" : detail::text(references_); }
  std::string ending() const {
    return std::string(metric_.signature()) + "|version:bahdanau-" + detail::text(BAHDANAU_VERSION_MAJOR) +
           "." + detail::text(BAHDANAU_VERSION_MINOR) + "." + detail::text(BAHDANAU_VERSION_PATCH);
  }

  M metric_;
  std::vector<Statistics> statistics_;  // [sentences]
  std::size_t references_ = varying;    // of each sentence, or `varying`
};

/// Counts predictions with one reference each. Throws where their numbers differ.
template <Metric M>
Evaluation<M> evaluation_of(M metric, std::span<const std::string> predictions,
                            std::span<const std::string> references) {
  if (predictions.size() != references.size())
    fail("predictions", "as many as references, " + detail::text(references.size()),
         detail::text(predictions.size()));
  Evaluation<M> result(std::move(metric));
  for (std::size_t i = 0; i < predictions.size(); ++i) result.add(predictions[i], references[i]);
  return result;
}

/// A metric's value for predictions with one reference each. Throws where their numbers differ, or are 0.
template <Metric M>
MetricResult measure(const M& metric, std::span<const std::string> predictions,
                     std::span<const std::string> references, const Bootstrap& bootstrap = {}) {
  return evaluation_of(metric, predictions, references).result(bootstrap);
}

/// Compares the predictions of two systems, with one reference each. Throws where numbers differ, or are 0.
template <Metric M>
Comparison compare(const M& metric, std::span<const std::string> first, std::span<const std::string> second,
                   std::span<const std::string> references, const Bootstrap& bootstrap = {}) {
  return paired_bootstrap(metric, evaluation_of(metric, first, references).statistics(),
                          evaluation_of(metric, second, references).statistics(), bootstrap);
}

}  // namespace bahdanau
