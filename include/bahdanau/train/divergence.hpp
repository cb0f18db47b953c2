// When a training that still computes has gone astray: its loss is finite, and far above what it was.
// A loss that is no number is an error; this is only said.
#pragma once

#include <algorithm>
#include <optional>

namespace bahdanau::detail {

/// Looks at each epoch's training loss, in nats per token.
class Divergence {
 public:
  /// `uniform` is the loss of guessing every word with the same probability: ln of the vocabulary's size.
  explicit Divergence(double uniform) : uniform_(uniform) {}

  /// Whether this epoch's loss is twice that of the best one before, and a nat above it; or above both that
  /// of guessing uniformly and the first epoch's; or, if it is the first, twice that of guessing.
  bool observe(double loss) {
    constexpr double margin = 0.5;  // first weights do a little worse than guessing
    const bool risen = best_ && loss > *best_ + std::max(1.0, *best_);
    const bool worse_than_guessing =
        first_ ? loss > std::max(uniform_, *first_) + margin : loss > 2 * uniform_ + margin;
    if (!first_) first_ = loss;
    best_ = best_ ? std::min(*best_, loss) : loss;
    return risen || worse_than_guessing;
  }

  double uniform() const { return uniform_; }

 private:
  double uniform_;
  std::optional<double> first_, best_;
};

}  // namespace bahdanau::detail
