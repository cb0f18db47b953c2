// Metrics by name, for programs that are told which when they run.
// The list is here and nowhere else; a metric of one's own is wrapped as those of the library are.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <bahdanau/core/error.hpp>
#include <bahdanau/core/quote.hpp>
#include <bahdanau/metric/bleu.hpp>
#include <bahdanau/metric/bootstrap.hpp>
#include <bahdanau/metric/chrf.hpp>
#include <bahdanau/metric/error_rate.hpp>
#include <bahdanau/metric/evaluation.hpp>
#include <bahdanau/metric/exact_match.hpp>
#include <bahdanau/metric/rouge.hpp>
#include <bahdanau/metric/ter.hpp>

namespace bahdanau {

/// An `Evaluation` of any metric.
class AnyEvaluation {
 public:
  template <Metric M>
  explicit AnyEvaluation(M metric) : self_(std::make_unique<Of<M>>(std::move(metric))) {}

  /// Counts a sentence. Throws for text that is not UTF-8, and without a reference.
  void add(std::string_view prediction, std::span<const std::string> references) {
    self_->add(prediction, references);
  }
  /// The metric's value.
  double score() const { return self_->score(); }
  /// Throws where there are no sentences.
  MetricResult result(const Bootstrap& bootstrap = {}) const { return self_->result(bootstrap); }
  /// How `second`'s score of the same sentences differs from this one. Throws where that is of another
  /// metric, or of other settings of it, and where numbers of sentences differ, or are 0.
  Comparison compare(const AnyEvaluation& second, const Bootstrap& bootstrap = {}) const {
    return self_->compare(*second.self_, bootstrap);
  }

 private:
  struct Interface {
    virtual ~Interface() = default;
    virtual void add(std::string_view prediction, std::span<const std::string> references) = 0;
    virtual double score() const = 0;
    virtual MetricResult result(const Bootstrap& bootstrap) const = 0;
    virtual Comparison compare(const Interface& second, const Bootstrap& bootstrap) const = 0;
    virtual std::string what() const = 0;
  };
  template <Metric M>
  struct Of final : Interface {
    explicit Of(M metric) : evaluation(std::move(metric)) {}
    void add(std::string_view prediction, std::span<const std::string> references) override {
      evaluation.add(prediction, references);
    }
    double score() const override { return evaluation.score(); }
    MetricResult result(const Bootstrap& bootstrap) const override { return evaluation.result(bootstrap); }
    Comparison compare(const Interface& second, const Bootstrap& bootstrap) const override {
      const auto* same = dynamic_cast<const Of*>(&second);
      if (same == nullptr || same->what() != what()) fail("AnyEvaluation::compare", what(), second.what());
      return paired_bootstrap(evaluation.metric(), evaluation.statistics(), same->evaluation.statistics(),
                              bootstrap);
    }
    std::string what() const override {
      std::string out(evaluation.metric().name());
      return out.append(" of ").append(evaluation.metric().signature());
    }
    Evaluation<M> evaluation;
  };

  std::unique_ptr<Interface> self_;
};

namespace detail {

/// A metric's name on a command line, and how to make one; `lowercase` says that case is not to matter.
struct NamedMetric {
  std::string_view name;
  AnyEvaluation (*make)(bool lowercase);
  bool error = false;  // the lower, the better
};

inline constexpr NamedMetric named_metrics[] = {
    {"bleu", [](bool lowercase) { return AnyEvaluation(Bleu{.lowercase = lowercase}); }},
    {"chrf", [](bool lowercase) { return AnyEvaluation(Chrf{.lowercase = lowercase}); }},
    {"chrf++", [](bool lowercase) { return AnyEvaluation(ChrfPlusPlus{.lowercase = lowercase}); }},
    {"ter", [](bool) { return AnyEvaluation(Ter{}); }, true},
    {"wer", [](bool lowercase) { return AnyEvaluation(WordErrorRate{lowercase}); }, true},
    {"cer", [](bool lowercase) { return AnyEvaluation(CharacterErrorRate{lowercase}); }, true},
    {"per", [](bool) { return AnyEvaluation(PhoneErrorRate{}); }, true},
    {"dictionary-wer", [](bool) { return AnyEvaluation(DictionaryWordErrorRate{}); }, true},
    {"exact", [](bool lowercase) { return AnyEvaluation(ExactMatch{lowercase}); }},
    {"rouge-1", [](bool) { return AnyEvaluation(Rouge1{}); }},
    {"rouge-2", [](bool) { return AnyEvaluation(Rouge2{}); }},
    {"rouge-l", [](bool) { return AnyEvaluation(RougeL{}); }},
    {"bleu-char",
     [](bool lowercase) {
       return AnyEvaluation(Bleu{BleuTokens::characters, lowercase});
     }},
    {"bleu-none", [](bool lowercase) {
       return AnyEvaluation(Bleu{BleuTokens::none, lowercase});
     }}};

}  // namespace detail

/// The names that `evaluation_named` knows: bleu, chrf, ter, ...
inline std::vector<std::string> metric_names() {
  std::vector<std::string> names;
  for (const detail::NamedMetric& metric : detail::named_metrics) names.emplace_back(metric.name);
  return names;
}

/// Whether the metric of that name counts errors, so that less is better.
inline bool counts_errors(std::string_view name) {
  for (const detail::NamedMetric& metric : detail::named_metrics)
    if (metric.name == name) return metric.error;
  return false;
}

/// The metric of that name, with its defaults; `lowercase` makes case not matter where the metric has a
/// choice. Throws with the names if there is none.
inline AnyEvaluation evaluation_named(std::string_view name, bool lowercase = false) {
  std::string names;
  for (const detail::NamedMetric& metric : detail::named_metrics) {
    if (metric.name == name) return metric.make(lowercase);
    names += (names.empty() ? "" : ", ") + std::string(metric.name);
  }
  fail("metric", "one of " + names, detail::quote(name));
}

}  // namespace bahdanau
