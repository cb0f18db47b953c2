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
  double coverage = 0;  // what a beam's coverage penalty adds to its rank
};

/// A continuation of a row that a beam may choose.
struct Candidate {
  std::size_t row;
  Token token;
  double log_prob, score;  // of the token, and of all
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
    places_.reserve(rows);
    blocks_.add(weights);
  }

  /// Begins the next step, to which rows are added.
  void begin_step() { steps_.push_back(rows_.size()); }

  /// Adds a row of the step with the attention weights that were used in it, and those of heads behind them
  /// where they are wanted.
  void add(const Row& row, std::span<const Scalar> weights, std::span<const Scalar> heads = {}) {
    rows_.push_back(row);
    places_.push_back(blocks_.put(weights, heads));
  }

  /// Whether what is kept has doubled since `forget`, and is worth the walk.
  bool crowded() const { return weights_kept() > std::max<std::size_t>(2 * needed_, 1 << 18); }

  /// How many weights are in memory.
  std::size_t weights_kept() const { return blocks_.size(); }

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
    // Rows that stay move to new blocks, in order; a block is given back as soon as its last row has moved.
    Blocks kept;
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      const Place old = places_[r];
      blocks_.release_before(old.block);
      places_[r] = used[r] ? kept.put(blocks_.at(old)) : Place{kept.last(), 0, 0};
    }
    blocks_ = std::move(kept);
    needed_ = blocks_.size();
  }

  /// Calls f(row, token, ln p) for each token of a hypothesis, from its first to its last: the row, counted
  /// over all steps, that it was chosen from.
  template <class F>
  void for_rows(const Leaf& leaf, F f) const {
    std::vector<std::size_t> path(leaf.step + 1);
    path[leaf.step] = at(leaf.step, leaf.row);
    for (std::size_t t = leaf.step; t > 0; --t)
      path[t - 1] = at(t - 1, static_cast<std::size_t>(rows_[path[t]].parent));
    for (std::size_t t = 0; t < leaf.step; ++t)
      f(path[t], rows_[path[t + 1]].input, rows_[path[t + 1]].log_prob);  // chosen at t, the input of t + 1
    f(path[leaf.step], leaf.token, leaf.log_prob);
  }

  /// Calls f(token, ln p, attention) for each token of a hypothesis, from its first to its last.
  template <class F>
  void for_tokens(const Leaf& leaf, F f) const {
    walk(leaf, f, [](std::size_t) {});
  }

  /// The same for the last hypothesis that is read: attention is given back on the way, so that what f makes
  /// of it takes its place.
  template <class F>
  void drain_tokens(const Leaf& leaf, F f) {
    walk(leaf, f, [this](std::size_t block) { blocks_.release_before(block); });
  }

 private:
  struct Place {
    std::size_t block, begin, size;
  };

  /// Weights in blocks that never move, so that growing needs no second copy of them all.
  class Blocks {
   public:
    void add(std::size_t capacity) { list_.emplace_back().reserve(capacity); }
    Place put(std::span<const Scalar> weights, std::span<const Scalar> heads = {}) {
      const std::size_t count = weights.size() + heads.size();
      if (list_.empty() || list_.back().capacity() - list_.back().size() < count)
        add(std::max(count, std::clamp(size_, smallest, largest)));
      std::vector<Scalar>& to = list_.back();
      to.insert(to.end(), weights.begin(), weights.end());
      to.insert(to.end(), heads.begin(), heads.end());
      size_ += count;
      return {last(), to.size() - count, count};
    }
    std::span<const Scalar> at(const Place& place) const {
      return {list_[place.block].data() + place.begin, place.size};
    }
    std::size_t last() const { return list_.empty() ? 0 : list_.size() - 1; }
    void release_before(std::size_t end) {
      for (; released_ < end; ++released_) list_[released_] = {};
    }
    std::size_t size() const { return size_; }

   private:
    static constexpr std::size_t smallest = 1 << 12, largest = 1 << 18;
    std::vector<std::vector<Scalar>> list_;
    std::size_t size_ = 0, released_ = 0;
  };

  template <class F, class Passed>
  void walk(const Leaf& leaf, F f, Passed passed) const {
    for_rows(leaf, [&](std::size_t row, Token token, double log_prob) {
      passed(places_[row].block);
      f(token, log_prob, blocks_.at(places_[row]));
    });
  }

  std::size_t at(std::size_t step, std::size_t row) const { return steps_[step] + row; }

  std::vector<std::size_t> steps_;  // the first row of each
  std::vector<Row> rows_;           // of all steps
  std::vector<Place> places_;       // of each row's weights
  Blocks blocks_;
  std::size_t needed_ = 0;  // weights after the last `forget`
};

}  // namespace bahdanau::detail
