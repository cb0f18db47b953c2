// Whole predictions that are right, or wrong: exact match, and the word error rate of dictionaries.
// A prediction is right if its words, between white space, are those of one of the references.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <bahdanau/metric/metric.hpp>
#include <bahdanau/metric/words.hpp>

namespace bahdanau {

/// Sentences, and how many of them are right.
struct MatchStatistics {
  std::uint64_t right = 0, sentences = 0;

  MatchStatistics& operator+=(const MatchStatistics& other) {
    right += other.right;
    sentences += other.sentences;
    return *this;
  }
};

/// The predictions that are one of their references, of a hundred.
struct ExactMatch {
  bool lowercase = false;  // both sides are compared in lower case

  using Statistics = MatchStatistics;

  Statistics statistics(std::string_view prediction, std::span<const std::string_view> references) const {
    const std::vector<std::string> lines = detail::lines_of(prediction, references, lowercase);
    const auto rows = detail::rows_of(lines, detail::words_of);
    return {std::find(rows.begin() + 1, rows.end(), rows.front()) == rows.end() ? 0U : 1U, 1};
  }
  /// 0 where there is no sentence.
  double score(const Statistics& sum) const {
    return sum.sentences == 0 ? 0 : 100 * static_cast<double>(sum.right) / static_cast<double>(sum.sentences);
  }
  std::string name() const { return "exact match"; }
  std::string signature() const { return detail::case_signature(lowercase) + "|unit:sentence"; }
};

/// The word error rate of pronunciation dictionaries: the words whose phones are not those of one of their
/// references, of a hundred. It is 100 less exact matches, and no `WordErrorRate`, which counts edits.
struct DictionaryWordErrorRate {
  using Statistics = MatchStatistics;

  Statistics statistics(std::string_view prediction, std::span<const std::string_view> references) const {
    return ExactMatch{}.statistics(prediction, references);
  }
  /// 0 where there is no word.
  double score(const Statistics& sum) const {
    return ExactMatch{}.score({sum.sentences - sum.right, sum.sentences});
  }
  std::string name() const { return "dictionary WER"; }
  std::string signature() const { return "unit:pronunciation"; }
};

static_assert(Metric<ExactMatch> && Metric<DictionaryWordErrorRate>);

}  // namespace bahdanau
