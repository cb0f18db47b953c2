// The tree of hypotheses that a search grows: each step's rows with their parents, tokens and attention.
// A finished hypothesis is a leaf; following parents gives its words and the attention behind each of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
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
    steps_.push_back(std::move(step));
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
      f(token, log_prob,
        std::span<const Scalar>(step.attention.data() + step.offsets[r],
                                step.offsets[r + 1] - step.offsets[r]));
    }
  }

 private:
  struct Step {
    std::vector<Row> rows;
    std::vector<std::size_t> offsets;
    std::vector<Scalar> attention;
  };
  std::vector<Step> steps_;
};

}  // namespace bahdanau::detail
