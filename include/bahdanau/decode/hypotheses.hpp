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

template <class Scalar>
class HypothesisTree {
 public:
  struct Row {
    Index parent;     // row of the step before; the sentence at the first step
    Token input;      // the token that was fed
    double log_prob;  // of that token
  };

  /// Adds the rows of a step; `attention(row)` are the weights that were used in it.
  template <class Attention>
  void add_step(std::vector<Row> rows, Attention attention) {
    Step step{std::move(rows), {0}, {}};
    for (std::size_t r = 0; r < step.rows.size(); ++r) {
      const auto weights = attention(r);
      step.attention.insert(step.attention.end(), weights.begin(), weights.end());
      step.offsets.push_back(step.attention.size());
    }
    kept_ += step.attention.size();
    steps_.push_back(std::move(step));
  }

  /// Whether what is kept has doubled since `forget`, and is worth the walk.
  bool crowded() const { return kept_ > std::max<std::size_t>(2 * needed_, 1 << 18); }

  /// How many weights are in memory.
  std::size_t weights_kept() const { return kept_; }

  /// Gives up the attention of rows that lead neither to these rows of the last step nor to these leaves.
  /// Hypotheses soon share their beginnings, so a beam needs little more room than one hypothesis.
  template <class Rows, class Leaves>
  void forget(const Rows& rows, const Leaves& leaves) {
    std::vector<std::vector<bool>> used;
    for (const Step& step : steps_) used.emplace_back(step.rows.size());
    for (const Index row : rows) used.back()[static_cast<std::size_t>(row)] = true;
    for (const Leaf& leaf : leaves) used[leaf.step][leaf.row] = true;
    needed_ = 0;
    for (std::size_t t = steps_.size(); t-- > 0;) {
      Step& step = steps_[t];
      std::vector<std::size_t> offsets{0};
      std::vector<Scalar> attention;
      for (std::size_t r = 0; r < step.rows.size(); ++r) {
        if (used[t][r]) {
          if (t > 0) used[t - 1][static_cast<std::size_t>(step.rows[r].parent)] = true;
          const auto weights = step.weights(r);
          attention.insert(attention.end(), weights.begin(), weights.end());
        }
        offsets.push_back(attention.size());
      }
      needed_ += attention.size();
      if (attention.size() == step.attention.size()) continue;
      attention.shrink_to_fit();
      step.offsets = std::move(offsets);
      step.attention = std::move(attention);
    }
    kept_ = needed_;
  }

  /// Calls f(token, ln p, attention) for each token of a hypothesis, from its first to its last.
  template <class F>
  void for_tokens(const Leaf& leaf, F f) const {
    std::vector<std::size_t> rows(leaf.step + 1);
    rows[leaf.step] = leaf.row;
    for (std::size_t t = leaf.step; t > 0; --t)
      rows[t - 1] = static_cast<std::size_t>(steps_[t].rows[rows[t]].parent);
    for (std::size_t t = 0; t <= leaf.step; ++t) {
      const Step& step = steps_[t];
      const std::size_t r = rows[t];
      // The token chosen at step t is the input of step t + 1.
      const bool last = t == leaf.step;
      const Token token = last ? leaf.token : steps_[t + 1].rows[rows[t + 1]].input;
      const double log_prob = last ? leaf.log_prob : steps_[t + 1].rows[rows[t + 1]].log_prob;
      f(token, log_prob, step.weights(r));
    }
  }

 private:
  struct Step {
    std::vector<Row> rows;
    std::vector<std::size_t> offsets;
    std::vector<Scalar> attention;

    std::span<const Scalar> weights(std::size_t row) const {
      return {attention.data() + offsets[row], offsets[row + 1] - offsets[row]};
    }
  };
  std::vector<Step> steps_;
  std::size_t kept_ = 0, needed_ = 0;  // weights, now and after the last `forget`
};

}  // namespace bahdanau::detail
