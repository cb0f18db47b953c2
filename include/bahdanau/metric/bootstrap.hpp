// How sure a score is: sentences are drawn again, with replacement, and the scores of such samples spread
// (Koehn 2004). Two systems that are scored on the same draws are compared sentence by sentence.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <bahdanau/core/error.hpp>
#include <bahdanau/core/random.hpp>
#include <bahdanau/metric/metric.hpp>

namespace bahdanau {

/// How often sentences are drawn again, and what share of the scores an interval holds.
struct Bootstrap {
  std::size_t resamples = 1000;
  std::uint64_t seed = 1;  // the same one draws the same sentences, for any metric and system
  double confidence = 0.95;

  /// Throws for settings out of range.
  void check() const {
    if (resamples == 0) fail("Bootstrap.resamples", "at least 1", "0");
    if (!(confidence > 0 && confidence < 1))
      fail("Bootstrap.confidence", "a number above 0 and below 1", detail::number_text(confidence));
  }
};

/// The range in which a score lies with some confidence.
struct Interval {
  double low = 0, high = 0;
};

/// How two systems differ on the same sentences.
struct Comparison {
  double first = 0, second = 0;  // their scores
  double difference = 0;         // second - first
  Interval interval = {};        // of the difference
  double p_value = 1;            // how probable such a difference is, on either side, between equal systems
};

namespace detail {

/// The score of each resample: of as many sentences as there are, drawn with replacement. What is drawn
/// depends on the seed and the numbers of the resample and the draw alone.
template <Metric M>
std::vector<double> resampled_scores(const M& metric, const std::vector<typename M::Statistics>& sentences,
                                     const Bootstrap& bootstrap) {
  const random::Key key = random::key_of(bootstrap.seed, random::Stream::resampling);
  std::vector<double> scores(bootstrap.resamples);
  for (std::size_t r = 0; r < scores.size(); ++r) {
    const random::Key draws = key.derive(r);
    typename M::Statistics sum{};
    for (std::size_t i = 0; i < sentences.size(); ++i)
      sum += sentences[(draws.bits(i) >> 32U) * sentences.size() >> 32U];  // fewer than 2³² sentences
    scores[r] = metric.score(sum);
  }
  return scores;
}

/// The percentile interval of some scores: of a thousand, the 26th and the 975th for 95 %.
inline Interval percentile_interval(std::vector<double> scores, double confidence) {
  std::sort(scores.begin(), scores.end());
  const double outside = static_cast<double>(scores.size()) * (1 - confidence) / 2;
  const auto cut = static_cast<std::size_t>(outside + 1e-9);  // 0.9 has no exact binary form
  return {scores[cut], scores[scores.size() - 1 - cut]};
}

/// Throws unless a bootstrap has something to draw from.
inline void require_sentences(const std::string& where, std::size_t sentences) {
  if (sentences == 0) fail(where, "at least one sentence", "none");
}

}  // namespace detail

/// The interval of a metric's score, from each sentence's statistics. Throws where there are none.
template <Metric M>
Interval bootstrap_interval(const M& metric, const std::vector<typename M::Statistics>& sentences,
                            const Bootstrap& bootstrap = {}) {
  bootstrap.check();
  detail::require_sentences("bootstrap_interval", sentences.size());
  return detail::percentile_interval(detail::resampled_scores(metric, sentences, bootstrap),
                                     bootstrap.confidence);
}

/// Compares two systems by the statistics of the same sentences (paired bootstrap). The p value is the share
/// of resamples whose difference is as far from the true one as that is from 0. Throws where the numbers of
/// sentences differ, or are 0.
template <Metric M>
Comparison paired_bootstrap(const M& metric, const std::vector<typename M::Statistics>& first,
                            const std::vector<typename M::Statistics>& second,
                            const Bootstrap& bootstrap = {}) {
  bootstrap.check();
  detail::require_sentences("paired_bootstrap", first.size());
  if (first.size() != second.size())
    fail("paired_bootstrap", "as many sentences of both systems",
         detail::text(first.size()) + " and " + detail::text(second.size()));
  const auto score = [&](const std::vector<typename M::Statistics>& sentences) {
    typename M::Statistics sum{};
    for (const typename M::Statistics& sentence : sentences) sum += sentence;
    return static_cast<double>(metric.score(sum));
  };
  Comparison result{.first = score(first), .second = score(second)};
  result.difference = result.second - result.first;
  const std::vector<double> of_first = detail::resampled_scores(metric, first, bootstrap);
  std::vector<double> differences = detail::resampled_scores(metric, second, bootstrap);
  std::size_t as_far = 0;
  for (std::size_t r = 0; r < differences.size(); ++r) {
    differences[r] -= of_first[r];
    if (std::abs(differences[r] - result.difference) >= std::abs(result.difference)) ++as_far;
  }
  // The true difference is one more: no number of resamples makes it impossible.
  result.p_value = static_cast<double>(as_far + 1) / static_cast<double>(differences.size() + 1);
  result.interval = detail::percentile_interval(std::move(differences), bootstrap.confidence);
  return result;
}

}  // namespace bahdanau
