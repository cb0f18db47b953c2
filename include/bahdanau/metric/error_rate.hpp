// Error rates: edits for a hundred words, characters or phones of the references, summed over all sentences.
// WER and CER are those of speech recognition, PER that of pronunciation dictionaries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <bahdanau/metric/edit_distance.hpp>
#include <bahdanau/metric/metric.hpp>
#include <bahdanau/metric/words.hpp>

namespace bahdanau {

/// What an error rate is made of, for a sentence or summed over sentences.
struct EditStatistics {
  std::uint64_t edits = 0;
  std::uint64_t reference_length = 0;  // in what is edited: words, characters or phones

  EditStatistics& operator+=(const EditStatistics& other) {
    edits += other.edits;
    reference_length += other.reference_length;
    return *this;
  }

  /// Edits for a hundred of the reference's, so above 100 where most of a prediction is to be deleted. Where
  /// references are empty, 0 if the predictions are too, and 100 if not.
  double rate() const {
    if (reference_length == 0) return edits == 0 ? 0 : 100;
    return 100 * static_cast<double>(edits) / static_cast<double>(reference_length);
  }
};

namespace detail {

/// The edits from the first row to the nearest of the others; of equally near ones the longest counts, so
/// that their order does not.
template <class Token>
EditStatistics nearest_edits(const std::vector<std::vector<Token>>& rows) {
  EditStatistics best{bahdanau::edit_distance(rows[0], rows[1]), rows[1].size()};
  for (std::size_t r = 2; r < rows.size(); ++r) {
    const EditStatistics other{bahdanau::edit_distance(rows[0], rows[r]), rows[r].size()};
    if (other.edits < best.edits ||
        (other.edits == best.edits && other.reference_length > best.reference_length))
      best = other;
  }
  return best;
}

/// The same for words between white space.
inline EditStatistics nearest_word_edits(std::string_view prediction,
                                         std::span<const std::string_view> references, bool lowercase) {
  const std::vector<std::string> lines = lines_of(prediction, references, lowercase);
  return nearest_edits(rows_of(lines, words_of));
}

}  // namespace detail

/// WER: edits of words for a hundred words of the reference. Words stand between white space; of several
/// references the nearest counts.
struct WordErrorRate {
  bool lowercase = false;  // both sides are compared in lower case

  using Statistics = EditStatistics;

  Statistics statistics(std::string_view prediction, std::span<const std::string_view> references) const {
    return detail::nearest_word_edits(prediction, references, lowercase);
  }
  double score(const Statistics& sum) const { return sum.rate(); }
  std::string name() const { return "WER"; }
  std::string signature() const { return detail::case_signature(lowercase) + "|unit:word"; }
};

/// CER: edits of code points for a hundred of the reference. White space between words is one code point, of
/// several references the nearest counts.
struct CharacterErrorRate {
  bool lowercase = false;  // both sides are compared in lower case

  using Statistics = EditStatistics;

  Statistics statistics(std::string_view prediction, std::span<const std::string_view> references) const {
    const std::vector<std::string> lines = detail::lines_of(prediction, references, lowercase);
    return detail::nearest_edits(
        detail::rows_of(lines, [](std::string_view line) { return detail::characters_of(line, U" "); }));
  }
  double score(const Statistics& sum) const { return sum.rate(); }
  std::string name() const { return "CER"; }
  std::string signature() const { return detail::case_signature(lowercase) + "|unit:char"; }
};

/// PER: edits of phones for a hundred phones of the reference. Phones stand between white space; a word that
/// is spoken in several ways has several references, of which the nearest counts.
struct PhoneErrorRate {
  using Statistics = EditStatistics;

  Statistics statistics(std::string_view prediction, std::span<const std::string_view> references) const {
    return detail::nearest_word_edits(prediction, references, false);
  }
  double score(const Statistics& sum) const { return sum.rate(); }
  std::string name() const { return "PER"; }
  std::string signature() const { return "unit:phone"; }
};

static_assert(Metric<WordErrorRate> && Metric<CharacterErrorRate> && Metric<PhoneErrorRate>);

}  // namespace bahdanau
