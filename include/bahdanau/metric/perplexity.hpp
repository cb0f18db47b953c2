// Perplexity: among how many equally likely tokens the model hesitates, on average.
// It is the nats per token that training shows, in a unit that people compare.
#pragma once

#include <cmath>

namespace bahdanau {

/// e^(mean cross-entropy of a token); 1 for a model that is always right, V for one that guesses among V
/// tokens.
inline double perplexity(double nats_per_token) { return std::exp(nats_per_token); }

}  // namespace bahdanau
