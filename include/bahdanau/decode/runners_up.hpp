// The tokens that might have come in the place of those that a search has chosen, row by row of its tree.
// Nothing is kept where none were asked for.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <bahdanau/backend/backend.hpp>
#include <bahdanau/core/error.hpp>
#include <bahdanau/core/token.hpp>
#include <bahdanau/model/search_history.hpp>
#include <bahdanau/text/vocabulary.hpp>

namespace bahdanau::detail {

/// The best tokens of each row of each step, in the order in which the rows were added.
class RunnersUp {
 public:
  static constexpr std::size_t most = 1000;

  /// Of each token, `count` others; 0: none.
  explicit RunnersUp(std::size_t count = 0) : count_(count) {
    if (count > most) fail("runners_up", "at most " + text(most), text(count));
  }

  bool wanted() const { return count_ > 0; }
  /// How many best tokens a step must give for a search that needs `needed`: the chosen one is among them.
  std::size_t asked(std::size_t needed) const { return wanted() ? std::max(needed, count_ + 1) : needed; }

  /// Keeps the best of a row: tokens, best first, with ln p of each; without tokens, ln p of all.
  template <class Scalar>
  void add(std::span<const Index> next, std::span<const Scalar> log_probs) {
    if (!wanted()) return;
    const std::size_t kept = std::min(count_ + 1, log_probs.size());
    if (next.empty()) {
      order_.resize(log_probs.size());
      for (std::size_t v = 0; v < order_.size(); ++v) order_[v] = static_cast<Token>(v);
      std::partial_sort(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(kept), order_.end(),
                        [&](Token a, Token b) {
                          const double x = in_order(log_probs[static_cast<std::size_t>(a)]),
                                       y = in_order(log_probs[static_cast<std::size_t>(b)]);
                          return x != y ? x > y : a < b;
                        });
    }
    for (std::size_t i = 0; i < kept; ++i) {
      const Token token = next.empty() ? order_[i] : static_cast<Token>(next[i]);
      best_.push_back(
          {token, static_cast<double>(log_probs[next.empty() ? static_cast<std::size_t>(token) : i])});
    }
    ends_.push_back(best_.size());
  }

  /// Those of a row, spelled, but for the token that was chosen there.
  std::vector<RunnerUp> of(std::size_t row, Token chosen, const Vocabulary& vocabulary) const {
    std::vector<RunnerUp> out;
    for (std::size_t i = row == 0 ? 0 : ends_[row - 1]; i < ends_[row]; ++i)
      if (best_[i].token != chosen && out.size() < count_)
        out.push_back({vocabulary.token(best_[i].token), best_[i].log_prob});
    return out;
  }

 private:
  struct Best {
    Token token;
    double log_prob;
  };

  /// What is no number cannot be put in order.
  static double in_order(double log_prob) {
    return std::isnan(log_prob) ? -std::numeric_limits<double>::infinity() : log_prob;
  }

  std::size_t count_;
  std::vector<Best> best_;         // of all rows
  std::vector<std::size_t> ends_;  // of each row's
  std::vector<Token> order_;       // scratch
};

}  // namespace bahdanau::detail
