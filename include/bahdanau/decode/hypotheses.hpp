// The tree of hypotheses that a search grows: each step's rows with their parents, tokens and attention.
// A finished hypothesis is a leaf; following parents gives its words and the attention behind each of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include <bahdanau/backend/backend.hpp>
#include <bahdanau/core/token.hpp>

namespace bahdanau::detail {

/// Where a hypothesis ends in the tree: its last token was chosen from row `row` of step `step`.
struct Leaf {
  std::size_t step = 0, row = 0;
  Token token = reserved::eos;
  double log_prob = 0;  // of that token
  double score = 0;     // Σ ln p of all its tokens
  bool ended = true;    // with `<eos>`, not by the length limit
};

/// The rows of all steps, and the attention weights that each of them had.
template <class Scalar>
class HypothesisTree {
 public:
  struct Row {
    Index parent;     // row of the step before; the sentence at the first step
    Token input;      // the token that was fed
    double log_prob;  // of that token
  };

  /// Makes room, so that growing up to these sizes allocates nothing.
  void reserve(std::size_t steps, std::size_t rows, std::size_t weights) {
    steps_.reserve(steps);
    rows_.reserve(rows);
    offsets_.reserve(rows + 1);
    attention_.reserve(weights);
  }

  /// Begins the next step, to which rows are added.
  void begin_step() { steps_.push_back(rows_.size()); }

  /// Adds a row of the step with the attention weights that were used in it.
  void add(const Row& row, std::span<const Scalar> weights) {
    rows_.push_back(row);
    attention_.insert(attention_.end(), weights.begin(), weights.end());
    offsets_.push_back(attention_.size());
  }

  /// Whether what is kept has doubled since `forget`, and is worth the walk.
  bool crowded() const { return weights_kept() > std::max<std::size_t>(2 * needed_, 1 << 18); }

  /// How many weights are in memory.
  std::size_t weights_kept() const { return attention_.size(); }

  /// Gives up the attention of rows that lead neither to these rows of the last step nor to these leaves.
  /// Hypotheses soon share their beginnings, so a beam needs little more room than one hypothesis.
  template <class Rows, class Leaves>
  void forget(const Rows& rows, const Leaves& leaves) {
    std::vector<bool> used(rows_.size());
    for (const Index row : rows) used[steps_.back() + static_cast<std::size_t>(row)] = true;
    for (const Leaf& leaf : leaves) used[at(leaf.step, leaf.row)] = true;
    for (std::size_t t = steps_.size(), end = rows_.size(); --t > 0; end = steps_[t])
      for (std::size_t r = steps_[t]; r < end; ++r)
        if (used[r]) used[at(t - 1, static_cast<std::size_t>(rows_[r].parent))] = true;
    std::size_t kept = 0;
    for (std::size_t r = 0, begin = 0; r < rows_.size(); ++r) {
      const std::size_t end = offsets_[r + 1];
      if (used[r]) {
        std::copy(attention_.begin() + static_cast<std::ptrdiff_t>(begin),
                  attention_.begin() + static_cast<std::ptrdiff_t>(end),
                  attention_.begin() + static_cast<std::ptrdiff_t>(kept));
        kept += end - begin;
      }
      offsets_[r + 1] = kept;
      begin = end;
    }
    attention_.resize(kept);
    needed_ = kept;
  }

  /// Calls f(token, ln p, attention) for each token of a hypothesis, from its first to its last.
  template <class F>
  void for_tokens(const Leaf& leaf, F f) const {
    std::vector<std::size_t> path(leaf.step + 1);
    path[leaf.step] = at(leaf.step, leaf.row);
    for (std::size_t t = leaf.step; t > 0; --t)
      path[t - 1] = at(t - 1, static_cast<std::size_t>(rows_[path[t]].parent));
    for (std::size_t t = 0; t <= leaf.step; ++t) {
      // The token chosen at step t is the input of step t + 1.
      const bool last = t == leaf.step;
      const Token token = last ? leaf.token : rows_[path[t + 1]].input;
      const double log_prob = last ? leaf.log_prob : rows_[path[t + 1]].log_prob;
      const std::size_t begin = offsets_[path[t]], end = offsets_[path[t] + 1];
      f(token, log_prob, std::span<const Scalar>(attention_.data() + begin, end - begin));
    }
  }

 private:
  std::size_t at(std::size_t step, std::size_t row) const { return steps_[step] + row; }

  std::vector<std::size_t> steps_;       // the first row of each
  std::vector<Row> rows_;                // of all steps
  std::vector<std::size_t> offsets_{0};  // of each row's weights
  std::vector<Scalar> attention_;
  std::size_t needed_ = 0;  // weights after the last `forget`
};

}  // namespace bahdanau::detail
