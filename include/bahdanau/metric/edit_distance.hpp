// Levenshtein's distance: how many tokens to insert, to delete or to replace so that one row becomes another.
// One row of the table is kept, and what both begin or end with is left out.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace bahdanau {

/// The least number of insertions, deletions and replacements that make one row of tokens the other.
template <class Token>
std::size_t edit_distance(const std::vector<Token>& a, const std::vector<Token>& b) {
  const auto [a_first, b_first] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  const auto [a_last, b_last] = std::mismatch(a.rbegin(), std::make_reverse_iterator(a_first), b.rbegin(),
                                              std::make_reverse_iterator(b_first));
  const auto a_end = a_last.base(), b_end = b_last.base();
  // costs[j] is the distance of what was seen of a, and the first j tokens of b.
  std::vector<std::size_t> costs(static_cast<std::size_t>(b_end - b_first) + 1);
  std::iota(costs.begin(), costs.end(), std::size_t{0});
  for (auto token = a_first; token != a_end; ++token) {
    std::size_t diagonal = costs[0]++;
    for (std::size_t j = 1; j < costs.size(); ++j) {
      const std::size_t replaced = diagonal + (*token == b_first[static_cast<std::ptrdiff_t>(j) - 1] ? 0 : 1);
      diagonal = costs[j];
      costs[j] = std::min(replaced, std::min(costs[j], costs[j - 1]) + 1);
    }
  }
  return costs.back();
}

}  // namespace bahdanau
