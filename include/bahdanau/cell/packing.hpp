// How ragged sequences are laid out: step after step, longest sentence first, without padding.
// At each step the sentences that still run are a prefix of the rows, so a step is one dense matrix.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

#include <bahdanau/autograd/loop_arrays.hpp>
#include <bahdanau/backend/backend.hpp>

namespace bahdanau {

/// The layout that PyTorch calls a packed sequence: token (step, row) is packed row `start(step) + row`.
class Packing {
 public:
  void assign(std::span<const Index> lengths) {
    const std::size_t rows = lengths.size();
    length_.assign(lengths.begin(), lengths.end());
    order_.resize(rows);
    std::iota(order_.begin(), order_.end(), Index{0});
    // Not stable_sort, which allocates: equal lengths keep their order by the second criterion.
    std::sort(order_.begin(), order_.end(), [&](Index a, Index b) {
      const Index la = length(a), lb = length(b);
      return la != lb ? la > lb : a < b;
    });
    rank_.resize(rows);
    for (std::size_t r = 0; r < rows; ++r) rank_[static_cast<std::size_t>(order_[r])] = static_cast<Index>(r);
    const std::size_t steps = rows == 0 ? 0 : static_cast<std::size_t>(length(order_[0]));
    counts_.assign(steps, 0);
    starts_.assign(steps + 1, 0);
    std::size_t running = rows;
    for (std::size_t t = 0; t < steps; ++t) {
      while (static_cast<std::size_t>(length(order_[running - 1])) <= t) --running;
      counts_[t] = running;
      starts_[t + 1] = starts_[t] + running;
    }
  }

  std::size_t rows() const { return order_.size(); }
  std::size_t steps() const { return counts_.size(); }
  std::size_t tokens() const { return starts_.back(); }
  /// Rows that still run at a step.
  std::size_t count(std::size_t step) const { return step < counts_.size() ? counts_[step] : 0; }
  std::span<const std::size_t> counts() const { return counts_; }
  std::size_t start(std::size_t step) const { return starts_[step]; }
  /// Whether all sentences are equally long.
  bool even() const { return count(steps() - 1) == rows(); }
  /// The sentence of each row, longest first, and its inverse.
  std::span<const Index> order() const { return order_; }
  std::span<const Index> rank() const { return rank_; }

  /// The packed row of each row's last token, then for each packed row which row of a state it goes on from
  /// (see Loop): lists that a device needs where sentences are not equally long.
  void lists(std::vector<Index>& host) const {
    host.clear();
    for (std::size_t r = 0; r < rows(); ++r)
      host.push_back(static_cast<Index>(starts_[static_cast<std::size_t>(length(order_[r])) - 1] + r));
    detail::add_state_rows(*this, host);
  }

  /// For each packed row that of the same sentence read from its end: a list for `gather_rows`, there and
  /// back.
  void reversal(std::vector<Index>& list) const {
    list.resize(tokens());
    for_tokens([&](std::size_t row, std::size_t sentence, std::size_t t) {
      const auto mirrored = static_cast<std::size_t>(length_[sentence]) - 1 - t;
      list[row] = static_cast<Index>(starts_[mirrored]) + rank_[sentence];
    });
  }

  /// Calls f(packed row, sentence, step) for every token.
  template <class F>
  void for_tokens(F f) const {
    for (std::size_t t = 0; t < steps(); ++t)
      for (std::size_t r = 0; r < counts_[t]; ++r) f(starts_[t] + r, static_cast<std::size_t>(order_[r]), t);
  }

 private:
  Index length(Index sentence) const { return length_[static_cast<std::size_t>(sentence)]; }

  std::vector<Index> length_, order_, rank_;
  std::vector<std::size_t> counts_, starts_;
};

}  // namespace bahdanau
