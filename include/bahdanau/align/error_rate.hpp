// How good an alignment is beside one made by hand: precision, recall and the alignment error rate of Och and
// Ney (2003).
#pragma once

#include <cstddef>

#include <bahdanau/align/alignment.hpp>

namespace bahdanau {

/// What is counted of alignments A beside gold ones with sure links S and possible ones P, which include S;
/// the sum over sentence pairs is that of a corpus.
struct AlignmentCounts {
  std::size_t found = 0;           // |A|
  std::size_t sure = 0;            // |S|
  std::size_t found_sure = 0;      // |A ∩ S|
  std::size_t found_possible = 0;  // |A ∩ P|

  AlignmentCounts& operator+=(const AlignmentCounts& other) {
    found += other.found;
    sure += other.sure;
    found_sure += other.found_sure;
    found_possible += other.found_possible;
    return *this;
  }
  bool operator==(const AlignmentCounts&) const = default;

  /// |A ∩ P| / |A|; 1 where nothing was found, so that nothing is wrong.
  double precision() const { return found == 0 ? 1 : ratio(found_possible, found); }
  /// |A ∩ S| / |S|; 1 where nothing is sure, so that nothing is missing.
  double recall() const { return sure == 0 ? 1 : ratio(found_sure, sure); }
  /// AER = 1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|); 0 where both are empty.
  double error_rate() const {
    return found + sure == 0 ? 0 : 1 - ratio(found_sure + found_possible, found + sure);
  }

 private:
  static double ratio(std::size_t part, std::size_t whole) {
    return static_cast<double>(part) / static_cast<double>(whole);
  }
};

/// Counts what an alignment has of the gold one.
inline AlignmentCounts count_links(const Alignment& found, const Alignment& gold) {
  AlignmentCounts counts{.found = found.size()};
  for (const Link& link : gold.links()) counts.sure += link.sure ? 1 : 0;
  for (const Link& link : found.links()) {
    counts.found_sure += gold.has_sure(link.source, link.target) ? 1 : 0;
    counts.found_possible += gold.has(link.source, link.target) ? 1 : 0;
  }
  return counts;
}

}  // namespace bahdanau
