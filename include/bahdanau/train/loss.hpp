// What a loss is: masked cross-entropy of the target tokens, in the units that d2l and everyone else use.
// A sentence's loss is the sum over its valid tokens divided by max_length (10 without one); a batch's is the
// sum over sentences.
#pragma once

#include <cstddef>

namespace bahdanau {

/// The loss of some sentences; losses of several batches add up.
struct Loss {
  double nats = 0;         // Σ of -ln p over all valid target tokens
  std::size_t tokens = 0;  // how many those are
  double sum = 0;          // Σ over sentences of nats / loss_divisor: what gradients are of

  /// d2l's number: the sum divided by the valid target tokens.
  double d2l() const { return tokens == 0 ? 0 : sum / static_cast<double>(tokens); }
  /// Mean cross-entropy of a token.
  double nats_per_token() const { return tokens == 0 ? 0 : nats / static_cast<double>(tokens); }

  Loss& operator+=(const Loss& other) {
    nats += other.nats;
    tokens += other.tokens;
    sum += other.sum;
    return *this;
  }
};

}  // namespace bahdanau
