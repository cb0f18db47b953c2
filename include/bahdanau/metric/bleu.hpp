// BLEU, how much of a translation stands in its reference: d2l's for one sentence, sacrebleu's for a corpus.
// Both count clipped n-grams: a reference n-gram is used up by the prediction's n-gram that it matches.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <bahdanau/text/tokenize.hpp>

namespace bahdanau {

namespace detail {

using Ngram = std::span<const std::string>;

inline bool less_ngram(Ngram a, Ngram b) { return std::ranges::lexicographical_compare(a, b); }

/// How many n-grams a row of tokens has: max(0, tokens - n + 1).
constexpr std::size_t ngram_count(std::size_t tokens, std::size_t n) {
  return tokens < n ? 0 : tokens - n + 1;
}

/// All n-grams of a row of tokens, with repetitions, in order.
inline std::vector<Ngram> sorted_ngrams(std::span<const std::string> tokens, std::size_t n) {
  std::vector<Ngram> result(ngram_count(tokens.size(), n));
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = tokens.subspan(i, n);
  std::ranges::sort(result, less_ngram);
  return result;
}

/// Σ over the distinct n-grams of min(count in a, count in b): the size of the multisets' intersection.
inline std::size_t clipped_matches(std::span<const std::string> a, std::span<const std::string> b,
                                   std::size_t n) {
  std::vector<Ngram> common;
  std::ranges::set_intersection(sorted_ngrams(a, n), sorted_ngrams(b, n), std::back_inserter(common),
                                less_ngram);
  return common.size();
}

}  // namespace detail

/// d2l's BLEU of one sentence, 0 to 1, from n-grams up to min(k, predicted tokens); longer ones weigh more:
/// exp(min(0, 1 - |label| / |predicted|)) · Π p_n^(1/2^n). An empty prediction has 0.
inline double sentence_bleu(std::span<const std::string> predicted, std::span<const std::string> label,
                            std::size_t k = 2) {
  if (predicted.empty()) return 0;
  const auto predicted_length = static_cast<double>(predicted.size());
  double score = std::exp(std::min(0.0, 1 - static_cast<double>(label.size()) / predicted_length));
  double exponent = 1;
  for (std::size_t n = 1; n <= std::min(k, predicted.size()); ++n) {
    const auto matches = static_cast<double>(detail::clipped_matches(predicted, label, n));
    exponent /= 2;
    score *= std::pow(matches / static_cast<double>(detail::ngram_count(predicted.size(), n)), exponent);
  }
  return score;
}

/// The same for sentences whose tokens stand between spaces.
inline double sentence_bleu(std::string_view predicted, std::string_view label, std::size_t k = 2) {
  return sentence_bleu(detail::split_on_spaces(predicted), detail::split_on_spaces(label), k);
}

/// BLEU-4 of a corpus with one reference a sentence, 0 to 100: what sacrebleu gives for tokenised text
/// (`tokenize="none"`, smoothing `exp`, case matters). BP · exp(¼ Σ ln p_n), counts summed over all
/// sentences.
class CorpusBleu {
 public:
  static constexpr std::size_t order = 4;  // the longest n-grams

  /// Counts one sentence, which may be empty.
  void add(std::span<const std::string> predicted, std::span<const std::string> reference) {
    predicted_length_ += predicted.size();
    reference_length_ += reference.size();
    for (std::size_t n = 1; n <= order; ++n) {
      matches_[n - 1] += detail::clipped_matches(predicted, reference, n);
      totals_[n - 1] += detail::ngram_count(predicted.size(), n);
    }
  }

  /// The same for sentences whose tokens stand between spaces.
  void add(std::string_view predicted, std::string_view reference) {
    add(detail::split_on_spaces(predicted), detail::split_on_spaces(reference));
  }

  /// Predicted tokens so far.
  std::size_t predicted_length() const { return predicted_length_; }

  /// Reference tokens so far.
  std::size_t reference_length() const { return reference_length_; }

  /// BP = exp(min(0, 1 - reference tokens / predicted tokens)); 0 if nothing was predicted where words were
  /// due.
  double brevity_penalty() const {
    if (predicted_length_ >= reference_length_) return 1;
    if (predicted_length_ == 0) return 0;
    return std::exp(1 - static_cast<double>(reference_length_) / static_cast<double>(predicted_length_));
  }

  /// p_1 to p_4, 0 to 100. The i-th of those without a match counts as 1/2^i matches, unless no token matched
  /// at all; one without any n-gram is 0.
  std::array<double, order> precisions() const {
    std::array<double, order> result{};
    if (matches_[0] == 0) return result;  // no token in common, so no longer n-gram either
    double smoothed = 1;
    for (std::size_t n = 0; n < order && totals_[n] > 0; ++n) {
      const double matches = matches_[n] > 0 ? static_cast<double>(matches_[n]) : (smoothed /= 2);
      result[n] = 100 * matches / static_cast<double>(totals_[n]);
    }
    return result;
  }

  /// BLEU-4; 0 for an empty corpus, and where no prediction has four tokens.
  double score() const {
    double log_sum = 0;
    for (double precision : precisions()) {
      if (precision <= 0) return 0;
      log_sum += std::log(precision / 100);
    }
    return 100 * brevity_penalty() * std::exp(log_sum / static_cast<double>(order));
  }

 private:
  std::size_t predicted_length_ = 0;
  std::size_t reference_length_ = 0;
  std::array<std::size_t, order> matches_{};  // [n - 1], clipped
  std::array<std::size_t, order> totals_{};   // [n - 1], n-grams predicted
};

}  // namespace bahdanau
