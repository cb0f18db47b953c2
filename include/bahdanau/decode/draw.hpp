// Drawing a token by its probability: among all, the most probable ones, or those that have most of it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include <bahdanau/decode/options.hpp>

namespace bahdanau::detail {

/// Draws one of some tokens, whose ln p are given. What it keeps between draws is memory alone.
class TokenDrawer {
 public:
  explicit TokenDrawer(const Sample& options) : options_(options) {}

  /// Which of all that are given, `uniform` being from 0 up to, not including, 1.
  template <class Scalar>
  std::size_t draw(std::span<const Scalar> log_probs, double uniform) {
    const double largest = static_cast<double>(*std::max_element(log_probs.begin(), log_probs.end()));
    weight_.clear();
    double total = 0;
    for (const auto log_prob : log_probs) weight_.push_back(total += weight(log_prob, largest));
    return place(uniform * total);
  }

  /// The same of those that `allowed(place)` lets pass, of which the `top` most probable ones are kept, and
  /// of these the fewest that have `top_p` of the probability. Gives how many there are if none is allowed.
  template <class Scalar, class Allowed>
  std::size_t draw(std::span<const Scalar> log_probs, double uniform, Allowed allowed) {
    kept_.clear();
    for (std::size_t i = 0; i < log_probs.size(); ++i)
      if (allowed(i)) kept_.push_back({static_cast<double>(log_probs[i]), i});
    if (kept_.empty()) return log_probs.size();
    for (Kept& each : kept_)  // NaN cannot be put in order
      if (std::isnan(each.log_prob)) each.log_prob = -std::numeric_limits<double>::infinity();
    const auto best = [](const Kept& a, const Kept& b) {
      return a.log_prob != b.log_prob ? a.log_prob > b.log_prob : a.place < b.place;
    };
    if (options_.top != 0 && options_.top < kept_.size()) {
      const auto end = kept_.begin() + static_cast<std::ptrdiff_t>(options_.top);
      std::partial_sort(kept_.begin(), end, kept_.end(), best);
      kept_.erase(end, kept_.end());
    }
    const double largest = std::max_element(kept_.begin(), kept_.end(), [](const Kept& a, const Kept& b) {
                             return a.log_prob < b.log_prob;
                           })->log_prob;
    double total = 0;
    for (const Kept& each : kept_) total += weight(each.log_prob, largest);
    weight_.clear();
    if (options_.top_p < 1) {
      // The most probable one comes to the end, and stays there.
      const auto worse = [&](const Kept& a, const Kept& b) { return best(b, a); };
      std::make_heap(kept_.begin(), kept_.end(), worse);
      auto rest = kept_.end();
      double sum = 0;
      do {
        std::pop_heap(kept_.begin(), rest--, worse);
        weight_.push_back(sum += weight(rest->log_prob, largest));
      } while (rest != kept_.begin() && sum < options_.top_p * total);
      std::reverse(rest, kept_.end());
      kept_.erase(kept_.begin(), rest);
    } else {
      double sum = 0;
      for (const Kept& each : kept_) weight_.push_back(sum += weight(each.log_prob, largest));
    }
    return kept_[place(uniform * weight_.back())].place;
  }

 private:
  struct Kept {
    double log_prob;
    std::size_t place;
  };
  /// p^(1 / temperature), as logits are divided by it; relative to the largest.
  double weight(auto log_prob, double largest) const {
    return std::exp((static_cast<double>(log_prob) - largest) / options_.temperature);
  }
  std::size_t place(double drawn) const {
    return std::min(
        static_cast<std::size_t>(std::upper_bound(weight_.begin(), weight_.end(), drawn) - weight_.begin()),
        weight_.size() - 1);
  }

  const Sample& options_;
  std::vector<double> weight_;  // sums of those up to each
  std::vector<Kept> kept_;
};

}  // namespace bahdanau::detail
