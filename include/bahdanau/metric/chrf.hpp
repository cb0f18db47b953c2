// chrF, the n-grams of characters that a prediction shares with its reference (Popović 2015), and chrF++,
// which counts n-grams of words too: as sacrebleu has them.
#pragma once

#include <array>
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

namespace detail {

/// The words of a line for chrF++: a sign of ASCII at a word's end stands alone, or else one at its
/// beginning.
inline std::vector<std::string_view> chrf_words(std::string_view line) {
  const auto is_sign = [](char c) {
    return c > ' ' && c < 0x7F && !(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'z') &&
           !(c >= 'A' && c <= 'Z');
  };
  std::vector<std::string_view> words;
  for (const std::string_view word : words_of(line)) {
    const std::size_t size = word.size();
    if (size > 1 && is_sign(word.back())) {
      words.insert(words.end(), {word.substr(0, size - 1), word.substr(size - 1)});
    } else if (size > 1 && is_sign(word.front())) {
      words.insert(words.end(), {word.substr(0, 1), word.substr(1)});
    } else {
      words.push_back(word);
    }
  }
  return words;
}

}  // namespace detail

/// chrF of a corpus, 0 to 100, from n-grams of up to so many characters, white space left out, and of up to
/// so many words: (1 + β²) P R / (β² P + R), with P and R the means of all orders' precisions and recalls,
/// their counts summed over all sentences. Orders that one side has no n-grams of are left out. Of several
/// references that with the best chrF counts.
template <std::size_t character_order, std::size_t word_order>
struct BasicChrf {
  std::uint32_t beta = 2;  // by how much recall weighs more than precision
  bool lowercase = false;  // both sides are compared in lower case

  static constexpr std::size_t orders = character_order + word_order;

  /// The n-grams of one order.
  struct Counts {
    std::uint64_t predicted = 0, reference = 0, matches = 0;
  };
  struct Statistics {
    std::array<Counts, orders> counts = {};  // those of characters first

    Statistics& operator+=(const Statistics& other) {
      for (std::size_t i = 0; i < orders; ++i) {
        counts[i].predicted += other.counts[i].predicted;
        counts[i].reference += other.counts[i].reference;
        counts[i].matches += other.counts[i].matches;
      }
      return *this;
    }
  };

  Statistics statistics(std::string_view prediction, std::span<const std::string_view> references) const {
    const std::vector<std::string> lines = detail::lines_of(prediction, references, lowercase);
    std::vector<Statistics> of_references(references.size());
    count(detail::rows_of(lines, detail::letters_of), 0, character_order, of_references);
    if constexpr (word_order > 0)
      count(detail::rows_of(lines, detail::chrf_words), character_order, orders, of_references);
    std::size_t best = 0;
    for (std::size_t r = 1; r < of_references.size(); ++r)
      if (score(of_references[r]) > score(of_references[best])) best = r;
    return of_references[best];
  }

  double score(const Statistics& sum) const {
    double precision = 0, recall = 0;
    std::size_t counted = 0;
    for (const Counts& counts : sum.counts) {
      if (counts.predicted == 0 || counts.reference == 0) continue;
      precision += static_cast<double>(counts.matches) / static_cast<double>(counts.predicted);
      recall += static_cast<double>(counts.matches) / static_cast<double>(counts.reference);
      ++counted;
    }
    if (precision + recall == 0) return 0;
    precision /= static_cast<double>(counted);
    recall /= static_cast<double>(counted);
    const double factor = static_cast<double>(beta) * beta;
    return 100 * (1 + factor) * precision * recall / (factor * precision + recall);
  }

  std::string name() const { return "chrF" + detail::text(beta) + std::string(word_order, '+'); }
  std::string signature() const {
    return detail::case_signature(lowercase) + "|eff:yes|nc:" + detail::text(character_order) +
           "|nw:" + detail::text(word_order) + "|space:no";
  }

 private:
  /// Fills orders from `first` up to `end` with the n-grams of rows, the prediction first.
  template <class Token>
  static void count(const std::vector<std::vector<Token>>& rows, std::size_t first, std::size_t end,
                    std::vector<Statistics>& of_references) {
    detail::Ngrams ngrams(rows);
    for (std::size_t order = first; order < end; ++order) {
      if (order > first) ngrams.lengthen();
      const std::vector<std::uint32_t> predicted = ngrams.counts(0);
      for (std::size_t r = 0; r < of_references.size(); ++r) {
        const std::size_t reference = ngrams.size(r + 1);
        // What no reference n-gram could match is no mistake.
        of_references[r].counts[order] = {reference > 0 ? ngrams.size(0) : 0, reference,
                                          detail::Ngrams::matches(predicted, ngrams.counts(r + 1))};
      }
    }
  }
};

/// chrF2, sacrebleu's default: up to six characters.
using Chrf = BasicChrf<6, 0>;
/// chrF2++: up to two words beside them (Popović 2017).
using ChrfPlusPlus = BasicChrf<6, 2>;
static_assert(Metric<Chrf> && Metric<ChrfPlusPlus>);

}  // namespace bahdanau
