// BLEU, how much of a translation stands in its reference: d2l's for one sentence, sacrebleu's for a corpus.
// Both count clipped n-grams: a reference n-gram is used up by the prediction's n-gram that it matches.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <bahdanau/metric/metric.hpp>
#include <bahdanau/metric/ngrams.hpp>
#include <bahdanau/metric/tokenize_13a.hpp>
#include <bahdanau/metric/words.hpp>
#include <bahdanau/text/tokenize.hpp>

namespace bahdanau {

/// d2l's BLEU of one sentence, 0 to 1, from n-grams up to min(k, predicted tokens); longer ones weigh more:
/// exp(min(0, 1 - |label| / |predicted|)) · Π p_n^(1/2^n). An empty prediction has 0.
inline double sentence_bleu(std::span<const std::string> predicted, std::span<const std::string> label,
                            std::size_t k = 2) {
  if (predicted.empty()) return 0;
  const auto predicted_length = static_cast<double>(predicted.size());
  double score = std::exp(std::min(0.0, 1 - static_cast<double>(label.size()) / predicted_length));
  double exponent = 1;
  detail::Ngrams ngrams(std::vector<std::vector<std::string_view>>{{predicted.begin(), predicted.end()},
                                                                   {label.begin(), label.end()}});
  for (std::size_t n = 1; n <= std::min(k, predicted.size()); ++n) {
    if (n > 1) ngrams.lengthen();
    const auto matches = static_cast<double>(detail::Ngrams::matches(ngrams.counts(0), ngrams.counts(1)));
    exponent /= 2;
    score *= std::pow(matches / static_cast<double>(ngrams.size(0)), exponent);
  }
  return score;
}

/// The same for sentences whose tokens stand between spaces.
inline double sentence_bleu(std::string_view predicted, std::string_view label, std::size_t k = 2) {
  return sentence_bleu(detail::split_on_spaces(predicted), detail::split_on_spaces(label), k);
}

/// What BLEU-4 is made of, for a sentence or summed over sentences.
struct BleuStatistics {
  static constexpr std::size_t order = 4;  // the longest n-grams

  std::uint64_t predicted_length = 0;             // in tokens
  std::uint64_t reference_length = 0;             // of the reference that is nearest in length
  std::array<std::uint64_t, order> matches = {};  // [n - 1], clipped
  std::array<std::uint64_t, order> totals = {};   // [n - 1], n-grams predicted

  BleuStatistics& operator+=(const BleuStatistics& other) {
    predicted_length += other.predicted_length;
    reference_length += other.reference_length;
    for (std::size_t n = 0; n < order; ++n) {
      matches[n] += other.matches[n];
      totals[n] += other.totals[n];
    }
    return *this;
  }

  /// BP = exp(min(0, 1 - reference tokens / predicted tokens)); 0 if nothing was predicted where words were
  /// due.
  double brevity_penalty() const {
    if (predicted_length >= reference_length) return 1;
    if (predicted_length == 0) return 0;
    return std::exp(1 - static_cast<double>(reference_length) / static_cast<double>(predicted_length));
  }

  /// p_1 to p_4, 0 to 100. The i-th of those without a match counts as 1/2^i matches, unless no token matched
  /// at all; one without any n-gram is 0.
  std::array<double, order> precisions() const {
    std::array<double, order> result{};
    if (matches[0] == 0) return result;  // no token in common, so no longer n-gram either
    double smoothed = 1;
    for (std::size_t n = 0; n < order && totals[n] > 0; ++n) {
      const double matched = matches[n] > 0 ? static_cast<double>(matches[n]) : (smoothed /= 2);
      result[n] = 100 * matched / static_cast<double>(totals[n]);
    }
    return result;
  }

  /// BLEU-4, 0 to 100: BP · exp(¼ Σ ln p_n); 0 for an empty corpus, and where no prediction has four tokens.
  double score() const {
    double log_sum = 0;
    for (const double precision : precisions()) {
      if (precision <= 0) return 0;
      log_sum += std::log(precision / 100);
    }
    return 100 * brevity_penalty() * std::exp(log_sum / static_cast<double>(order));
  }
};

namespace detail {

/// Counts for a sentence, given as rows of tokens, the prediction first. Where there are several references,
/// an n-gram may be matched as often as it is in any one of them.
template <class Token>
BleuStatistics bleu_statistics(const std::vector<std::vector<Token>>& rows) {
  BleuStatistics result;
  const std::size_t length = rows.front().size();
  result.predicted_length = length;
  const auto distance = [length](std::size_t other) {
    return length > other ? length - other : other - length;
  };
  std::size_t nearest = rows[1].size();
  for (std::size_t r = 2; r < rows.size(); ++r) {
    const std::size_t other = rows[r].size();
    if (distance(other) < distance(nearest) || (distance(other) == distance(nearest) && other < nearest))
      nearest = other;
  }
  result.reference_length = nearest;
  Ngrams ngrams(rows);
  for (std::size_t n = 1; n <= BleuStatistics::order; ++n) {
    if (n > 1) ngrams.lengthen();
    std::vector<std::uint32_t> allowed = ngrams.counts(1);
    for (std::size_t r = 2; r < rows.size(); ++r) {
      const std::vector<std::uint32_t> counts = ngrams.counts(r);
      for (std::size_t i = 0; i < allowed.size(); ++i) allowed[i] = std::max(allowed[i], counts[i]);
    }
    result.matches[n - 1] = Ngrams::matches(ngrams.counts(0), allowed);
    result.totals[n - 1] = ngrams.size(0);
  }
  return result;
}

}  // namespace detail

/// BLEU-4 of a corpus with one reference a sentence, 0 to 100: what sacrebleu gives for tokenised text
/// (`tokenize="none"`, smoothing `exp`, case matters). BP · exp(¼ Σ ln p_n), counts summed over all
/// sentences.
class CorpusBleu {
 public:
  static constexpr std::size_t order = BleuStatistics::order;  // the longest n-grams

  /// Counts one sentence, which may be empty.
  void add(std::span<const std::string> predicted, std::span<const std::string> reference) {
    sum_ += detail::bleu_statistics(std::vector<std::vector<std::string_view>>{
        {predicted.begin(), predicted.end()}, {reference.begin(), reference.end()}});
  }

  /// The same for sentences whose tokens stand between spaces.
  void add(std::string_view predicted, std::string_view reference) {
    add(detail::split_on_spaces(predicted), detail::split_on_spaces(reference));
  }

  /// Predicted tokens so far.
  std::size_t predicted_length() const { return sum_.predicted_length; }

  /// Reference tokens so far.
  std::size_t reference_length() const { return sum_.reference_length; }

  /// BP = exp(min(0, 1 - reference tokens / predicted tokens)); 0 if nothing was predicted where words were
  /// due.
  double brevity_penalty() const { return sum_.brevity_penalty(); }

  /// p_1 to p_4, 0 to 100. The i-th of those without a match counts as 1/2^i matches, unless no token matched
  /// at all; one without any n-gram is 0.
  std::array<double, order> precisions() const { return sum_.precisions(); }

  /// BLEU-4; 0 for an empty corpus, and where no prediction has four tokens.
  double score() const { return sum_.score(); }

 private:
  BleuStatistics sum_;
};

/// How BLEU makes tokens of a line: 13a, for text as people write it; each code point; or what stands between
/// white space, for text that is tokenised already.
enum class BleuTokens { v13a, characters, none };

/// The spelling in a signature.
constexpr std::string_view name(BleuTokens tokens) {
  return tokens == BleuTokens::v13a ? "13a" : tokens == BleuTokens::characters ? "char" : "none";
}

/// BLEU-4 of a corpus, 0 to 100, as sacrebleu has it (smoothing `exp`): for text as it was written, with any
/// number of references.
struct Bleu {
  BleuTokens tokens = BleuTokens::v13a;
  bool lowercase = false;  // both sides are compared in lower case

  using Statistics = BleuStatistics;

  Statistics statistics(std::string_view prediction, std::span<const std::string_view> references) const {
    std::vector<std::string> lines = detail::lines_of(prediction, references, lowercase);
    if (tokens == BleuTokens::characters)
      return detail::bleu_statistics(detail::rows_of(lines, detail::letters_of));
    if (tokens == BleuTokens::v13a)
      for (std::string& line : lines) line = detail::spaced_13a(line);
    return detail::bleu_statistics(detail::rows_of(lines, detail::words_of));
  }
  double score(const Statistics& sum) const { return sum.score(); }
  std::string name() const { return "BLEU"; }
  std::string signature() const {
    return detail::case_signature(lowercase) + "|eff:no|tok:" + std::string(bahdanau::name(tokens)) +
           "|smooth:exp";
  }
};
static_assert(Metric<Bleu>);

}  // namespace bahdanau
