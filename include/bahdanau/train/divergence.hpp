// When a training that still computes has gone astray: its loss is finite, and far above what it was.
// A loss that is no number is an error; this is only said.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include <bahdanau/core/digits.hpp>
#include <bahdanau/core/error.hpp>

namespace bahdanau {

/// What `Training::step` and `fit` throw where numbers are no longer finite. After `fit` the model has its
/// last good weights.
class NotFinite : public Error {
 public:
  using Error::Error;
};

}  // namespace bahdanau

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
    if (!begun_) {
      begun_ = true;
      first_ = best_ = loss;
      return loss > 2 * uniform_ + margin;
    }
    const bool risen = loss > best_ + std::max(1.0, best_);
    best_ = std::min(best_, loss);
    return risen || loss > std::max(uniform_, first_) + margin;
  }

  /// What to say of an epoch with such a loss.
  std::string warning(std::uint64_t epoch, double loss) const {
    return "the loss of epoch " + text(epoch) + ", " + fixed_digits(loss, 3) +
           " nats/token, is far above what it was before" +
           (std::isfinite(uniform_) ? ", or above the " + fixed_digits(uniform_, 3) + " of guessing" : "") +
           ": the training may have diverged; lower the learning rate or the bound of clipping, or warm the "
           "rate up";
  }

 private:
  double uniform_;
  bool begun_ = false;
  double first_ = 0, best_ = 0;  // of no meaning before it has begun
};

}  // namespace bahdanau::detail
