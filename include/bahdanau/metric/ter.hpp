// TER, translation edit rate: edits of words for a hundred of the reference, where a phrase that stands
// elsewhere is moved by one edit (Snover et al. 2006), with tercom's limits and sacrebleu's order of choices.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <bahdanau/metric/metric.hpp>
#include <bahdanau/metric/ngrams.hpp>
#include <bahdanau/metric/words.hpp>

namespace bahdanau {

namespace detail {

/// Words as numbers.
using WordNumbers = std::vector<std::uint32_t>;

/// Edit distances to a reference of rows that all have the same length, in a band around the diagonal;
/// outside of it nothing is reached.
class BandedDistance {
 public:
  BandedDistance(const WordNumbers& reference, std::size_t length)
      : reference_(&reference),
        length_(length),
        slope_(length == 0 ? 1 : static_cast<double>(reference.size()) / static_cast<double>(length)),
        // So wide that the bands of two rows overlap.
        width_(narrowest < slope_ / 2 ? static_cast<std::size_t>(std::ceil(slope_ / 2 + narrowest))
                                      : narrowest),
        stride_(std::min(columns(), 2 * width_ + 2)),
        first_(columns()),
        costs_(length * stride_),
        edits_(length * stride_),
        spare_costs_{std::vector<std::uint32_t>(stride_), std::vector<std::uint32_t>(stride_)},
        spare_edits_(stride_) {
    std::iota(first_.begin(), first_.end(), 0U);
  }

  /// Computes the whole table of some words, and returns their distance.
  std::uint32_t fill(const WordNumbers& words) {
    Row row = of_table(0);
    for (std::size_t i = 1; i <= length_; ++i)
      row = next(i, words[i - 1], row, &costs_[(i - 1) * stride_], &edits_[(i - 1) * stride_]);
    return row.at(columns() - 1);
  }

  /// The distance of words of which the first `same` are those that the table was filled with.
  std::uint32_t distance(const WordNumbers& words, std::size_t same) {
    Row row = of_table(same);
    for (std::size_t i = same + 1; i <= length_; ++i)
      row = next(i, words[i - 1], row, spare_costs_[i % 2].data(), spare_edits_.data());
    return row.at(columns() - 1);
  }

  /// Where words that the table was filled with meet the reference.
  struct Alignment {
    std::vector<std::size_t> ends;          // [reference word], how many words come up to its place
    std::vector<bool> wrong, wrong_target;  // [word], [reference word]: not the same on both sides
  };
  Alignment alignment() const {
    Alignment result{std::vector<std::size_t>(reference_->size()), std::vector<bool>(length_),
                     std::vector<bool>(reference_->size())};
    std::size_t i = length_, j = reference_->size();
    while (i > 0 || j > 0) {
      const Edit edit = i == 0 ? Edit::insert : edits_[(i - 1) * stride_ + j - band(i).begin];
      if (edit != Edit::remove) {
        result.ends[j - 1] = i;
        result.wrong_target[j - 1] = edit != Edit::keep;
      }
      if (edit != Edit::insert) result.wrong[i - 1] = edit != Edit::keep;
      if (edit != Edit::insert) --i;
      if (edit != Edit::remove) --j;
    }
    return result;
  }

 private:
  static constexpr std::size_t narrowest = 25;  // tercom's
  static constexpr std::uint32_t unreached = std::numeric_limits<std::uint32_t>::max() / 2;

  /// How a cell is reached: from the left above, from the left, from above.
  enum class Edit : std::uint8_t { keep, replace, insert, remove };

  /// The columns of a row that are computed, from `begin` up to `end`.
  struct Band {
    std::size_t begin, end;
  };
  struct Row {
    const std::uint32_t* costs;
    Band band;

    std::uint32_t at(std::size_t j) const {
      return j >= band.begin && j < band.end ? costs[j - band.begin] : unreached;
    }
  };

  std::size_t columns() const { return reference_->size() + 1; }

  Band band(std::size_t i) const {
    const auto diagonal = static_cast<std::size_t>(std::floor(static_cast<double>(i) * slope_));
    return {diagonal > width_ ? diagonal - width_ : 0,
            i == length_ ? columns() : std::min(columns(), diagonal + width_)};
  }

  Row of_table(std::size_t i) const {
    return i == 0 ? Row{first_.data(), {0, columns()}} : Row{&costs_[(i - 1) * stride_], band(i)};
  }

  /// Computes row i, that of a word. Of edits that cost the same the first is taken, in the order below.
  Row next(std::size_t i, std::uint32_t word, Row above, std::uint32_t* costs, Edit* edits) const {
    const Row row{costs, band(i)};
    for (std::size_t j = row.band.begin; j < row.band.end; ++j) {
      std::uint32_t cost = unreached;
      Edit edit = Edit::remove;
      const auto offer = [&](std::uint32_t other, Edit how) {
        if (other >= cost) return;
        cost = other;
        edit = how;
      };
      if (j > 0) {
        const bool same = word == (*reference_)[j - 1];
        offer(above.at(j - 1) + (same ? 0 : 1), same ? Edit::keep : Edit::replace);
      }
      offer(above.at(j) + 1, Edit::remove);
      if (j > row.band.begin) offer(costs[j - row.band.begin - 1] + 1, Edit::insert);
      costs[j - row.band.begin] = cost;
      edits[j - row.band.begin] = edit;
    }
    return row;
  }

  const WordNumbers* reference_;
  std::size_t length_;                         // of the rows that are compared with it
  double slope_;                               // of the diagonal
  std::size_t width_;                          // of the band on either side
  std::size_t stride_;                         // from row to row
  std::vector<std::uint32_t> first_;           // [columns], before any word
  std::vector<std::uint32_t> costs_;           // [length, stride], from each row's band on
  std::vector<Edit> edits_;                    // [length, stride]
  std::vector<std::uint32_t> spare_costs_[2];  // [stride], for tables that are not kept
  std::vector<Edit> spare_edits_;
};

/// A phrase that is moved: its words, and before which word it goes.
struct Shift {
  std::ptrdiff_t gain = 0;  // in edits
  std::size_t length = 0, start = 0, target = 0;

  /// The one with the greatest gain is made, then the longest, the first, and that to the first place.
  bool better_than(const Shift& other) const {
    if (gain != other.gain) return gain > other.gain;
    if (length != other.length) return length > other.length;
    if (start != other.start) return start < other.start;
    return target < other.target;
  }

  /// The first word that changes.
  std::size_t first() const { return std::min(start, target); }

  void apply(WordNumbers& words) const {
    const auto at = [&](std::size_t i) {
      return words.begin() + static_cast<std::ptrdiff_t>(std::min(i, words.size()));
    };
    if (target < start) {
      std::rotate(at(target), at(start), at(start + length));
    } else {
      // A target inside the phrase is counted from the phrase's end.
      const std::size_t end = target > start + length ? target : target + length;
      std::rotate(at(start), at(start + length), at(end));
    }
  }
};

/// Looks for the shift after which the fewest edits are left, of phrases that are wrong where they are and
/// that the reference has elsewhere; a gain of 0 or less is none.
class ShiftSearch {
 public:
  static constexpr std::size_t most_tried = 1000;  // for a sentence; sacrebleu's limit

  ShiftSearch(const WordNumbers& words, const WordNumbers& reference)
      : words_(words),
        reference_(reference),
        table_(reference, words.size()),
        distance_(table_.fill(words)) {}

  /// The edits of all shifts that are worth it, and those that are left after them.
  std::size_t edits() {
    std::size_t shifts = 0;
    for (;; ++shifts) {
      const Shift best = best_shift();
      if (tried_ >= most_tried || best.gain <= 0) return shifts + distance_;
      best.apply(words_);
      distance_ = table_.fill(words_);
    }
  }

 private:
  static constexpr std::size_t longest = 10, farthest = 50;  // tercom's limits

  Shift best_shift() {
    const BandedDistance::Alignment alignment = table_.alignment();
    Shift best{.gain = std::numeric_limits<std::ptrdiff_t>::min()};
    for (std::size_t start = 0; start < words_.size(); ++start) {
      const std::size_t end = std::min(reference_.size(), start + farthest + 1);
      for (std::size_t place = start > farthest ? start - farthest : 0; place < end; ++place) {
        const std::size_t most = std::min({longest, words_.size() - start, reference_.size() - place});
        for (std::size_t length = 1;
             length <= most && words_[start + length - 1] == reference_[place + length - 1]; ++length) {
          try_shifts(start, place, length, alignment, best);
          if (tried_ >= most_tried) return best;
        }
      }
    }
    return best;
  }

  /// Moves the words to where the reference's phrase begins, and behind each word of it.
  void try_shifts(std::size_t start, std::size_t place, std::size_t length,
                  const BandedDistance::Alignment& alignment, Shift& best) {
    const auto any = [length](const std::vector<bool>& wrong, std::size_t from) {
      const auto begin = wrong.begin() + static_cast<std::ptrdiff_t>(from);
      return std::find(begin, begin + static_cast<std::ptrdiff_t>(length), true) !=
             begin + static_cast<std::ptrdiff_t>(length);
    };
    if (!any(alignment.wrong, start) || !any(alignment.wrong_target, place)) return;
    if (alignment.ends[place] > start && alignment.ends[place] <= start + length) return;  // there already
    std::size_t last = std::numeric_limits<std::size_t>::max();
    for (std::size_t i = 0; i <= length; ++i) {
      const std::size_t target = place + i == 0 ? 0 : alignment.ends[place + i - 1];
      if (target == last) continue;
      last = target;
      Shift shift{0, length, start, target};
      moved_ = words_;
      shift.apply(moved_);
      shift.gain = static_cast<std::ptrdiff_t>(distance_) -
                   static_cast<std::ptrdiff_t>(table_.distance(moved_, shift.first()));
      ++tried_;
      if (shift.better_than(best)) best = shift;
    }
  }

  WordNumbers words_;
  WordNumbers moved_;  // words after the shift that is tried
  const WordNumbers& reference_;
  BandedDistance table_;
  std::uint32_t distance_;
  std::size_t tried_ = 0;
};

}  // namespace detail

/// TER of a corpus as sacrebleu has it: edits and shifts for a hundred words of the references, words between
/// white space, case ignored unless asked for. Of several references that with the fewest edits counts, and
/// the mean of their lengths.
struct Ter {
  bool case_sensitive = false;

  struct Statistics {
    std::uint64_t edits = 0;
    double reference_length = 0;  // in words

    Statistics& operator+=(const Statistics& other) {
      edits += other.edits;
      reference_length += other.reference_length;
      return *this;
    }
  };

  Statistics statistics(std::string_view prediction, std::span<const std::string_view> references) const {
    const std::vector<std::string> lines = detail::lines_of(prediction, references, !case_sensitive);
    const detail::Ngrams words(detail::rows_of(lines, detail::words_of));
    const auto row = [&](std::size_t r) {
      return detail::WordNumbers(words.numbers(r).begin(), words.numbers(r).end());
    };
    const detail::WordNumbers predicted = row(0);
    std::size_t edits = std::numeric_limits<std::size_t>::max(), length = 0;
    for (std::size_t r = 1; r <= references.size(); ++r) {
      const detail::WordNumbers reference = row(r);
      length += reference.size();
      edits = std::min(
          edits, reference.empty() ? predicted.size() : detail::ShiftSearch(predicted, reference).edits());
    }
    return {edits, static_cast<double>(length) / static_cast<double>(references.size())};
  }

  /// Where references are empty, 0 if the predictions are too, and 100 if not.
  double score(const Statistics& sum) const {
    if (sum.reference_length == 0) return sum.edits == 0 ? 0 : 100;
    return 100 * (static_cast<double>(sum.edits) / sum.reference_length);
  }
  std::string name() const { return "TER"; }
  std::string signature() const {
    return detail::case_signature(!case_sensitive) + "|tok:tercom|norm:no|punct:yes|asian:no";
  }
};
static_assert(Metric<Ter>);

}  // namespace bahdanau
