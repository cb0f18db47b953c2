// ROUGE, how much of a reference a prediction has, by n-grams or by the longest common subsequence (Lin
// 2004). Precision, recall and F1 of each sentence, and their means over all, as the package rouge-score has
// them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <bahdanau/core/error.hpp>
#include <bahdanau/metric/metric.hpp>
#include <bahdanau/metric/ngrams.hpp>
#include <bahdanau/metric/words.hpp>

namespace bahdanau {

/// How ROUGE makes tokens of a line: runs of a to z and digits in lower case, which is the custom for English
/// and knows no other letters; or what stands between white space.
enum class RougeTokens { ascii, none };

/// The spelling in a signature.
constexpr std::string_view name(RougeTokens tokens) {
  return tokens == RougeTokens::ascii ? "ascii" : "none";
}

/// What ROUGE is made of, for a sentence or summed over sentences; each share is from 0 to 1.
struct RougeStatistics {
  double precision = 0, recall = 0, f1 = 0;
  std::uint64_t sentences = 0;

  RougeStatistics& operator+=(const RougeStatistics& other) {
    precision += other.precision;
    recall += other.recall;
    f1 += other.f1;
    sentences += other.sentences;
    return *this;
  }
};

namespace detail {

/// A line in lower case, with spaces in place of all but a to z and digits.
inline std::string spaced_ascii(std::string_view line) {
  std::string result = lower_case(line);
  for (char& c : result)
    if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9')) c = ' ';
  return result;
}

/// The length of the longest row that both have, with gaps.
template <class Token>
std::size_t common_subsequence(const std::vector<Token>& a, const std::vector<Token>& b) {
  std::vector<std::size_t> lengths(b.size() + 1);  // of what was seen of a, and the first j tokens of b
  for (const Token& token : a) {
    std::size_t diagonal = 0;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t longer = token == b[j - 1] ? diagonal + 1 : std::max(lengths[j], lengths[j - 1]);
      diagonal = lengths[j];
      lengths[j] = longer;
    }
  }
  return lengths.back();
}

/// One sentence's shares, of which an empty side has none.
inline RougeStatistics rouge_of(std::size_t matches, std::size_t predicted, std::size_t reference) {
  const auto share = [matches](std::size_t all) {
    return all == 0 ? 0 : static_cast<double>(matches) / static_cast<double>(all);
  };
  const double precision = share(predicted), recall = share(reference), sum = precision + recall;
  return {precision, recall, sum > 0 ? 2 * precision * recall / sum : 0, 1};
}

}  // namespace detail

/// ROUGE by n-grams: each of the reference's is matched once.
template <std::size_t n>
struct RougeNgrams {
  static std::string suffix() { return detail::text(n); }
  /// Compares the first row of tokens with the r-th.
  template <class Token>
  static RougeStatistics compare(const std::vector<std::vector<Token>>& rows, std::size_t r) {
    detail::Ngrams ngrams(std::vector<std::vector<Token>>{rows[0], rows[r]});
    for (std::size_t i = 1; i < n; ++i) ngrams.lengthen();
    return detail::rouge_of(detail::Ngrams::matches(ngrams.counts(0), ngrams.counts(1)), ngrams.size(0),
                            ngrams.size(1));
  }
};

/// ROUGE by the longest common subsequence of a sentence.
struct RougeSubsequence {
  static std::string suffix() { return "L"; }
  /// Compares the first row of tokens with the r-th.
  template <class Token>
  static RougeStatistics compare(const std::vector<std::vector<Token>>& rows, std::size_t r) {
    return detail::rouge_of(detail::common_subsequence(rows[0], rows[r]), rows[0].size(), rows[r].size());
  }
};

/// ROUGE of a corpus, 0 to 100, by one of the two above.
template <class Kind>
struct Rouge {
  RougeTokens tokens = RougeTokens::ascii;

  using Statistics = RougeStatistics;

  /// Of several references that with the best F1 counts.
  Statistics statistics(std::string_view prediction, std::span<const std::string_view> references) const {
    std::vector<std::string> lines = detail::lines_of(prediction, references, false);
    if (tokens == RougeTokens::ascii)
      for (std::string& line : lines) line = detail::spaced_ascii(line);
    return best(detail::rows_of(lines, detail::words_of));
  }
  /// The mean of all sentences' F1, 0 to 100.
  double score(const Statistics& sum) const { return mean(sum.f1, sum); }
  /// The mean of all sentences' precisions, 0 to 100.
  double precision(const Statistics& sum) const { return mean(sum.precision, sum); }
  /// The mean of all sentences' recalls, 0 to 100.
  double recall(const Statistics& sum) const { return mean(sum.recall, sum); }

  std::string name() const { return "ROUGE-" + Kind::suffix(); }
  std::string signature() const { return "tok:" + std::string(bahdanau::name(tokens)) + "|stem:no|score:f1"; }

 private:
  template <class Token>
  static Statistics best(const std::vector<std::vector<Token>>& rows) {
    Statistics result = Kind::compare(rows, 1);
    for (std::size_t r = 2; r < rows.size(); ++r) {
      const Statistics other = Kind::compare(rows, r);
      if (other.f1 > result.f1) result = other;
    }
    return result;
  }
  static double mean(double total, const Statistics& sum) {
    return sum.sentences == 0 ? 0 : 100 * total / static_cast<double>(sum.sentences);
  }
};

using Rouge1 = Rouge<RougeNgrams<1>>;
using Rouge2 = Rouge<RougeNgrams<2>>;
using RougeL = Rouge<RougeSubsequence>;
static_assert(Metric<Rouge1> && Metric<Rouge2> && Metric<RougeL>);

}  // namespace bahdanau
