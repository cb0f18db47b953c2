// What a training step says to a model that is to sample what it reads: scheduled sampling, seen from the
// model. Which tokens that makes is in model/sampled_inputs.hpp, for encoder-decoders.
#pragma once

#include <bahdanau/autograd/tape.hpp>
#include <bahdanau/core/random.hpp>
#include <bahdanau/model/scheduled_sampling.hpp>

namespace bahdanau {

/// The sampling of one training step; the default samples nothing.
template <Backend B>
struct InputSampling {
  Tape<B>* tape = nullptr;  // one that does not record, bound to the same weights; null: nothing is sampled
  double teacher = 1;       // the probability of the true token
  random::Key key;  // one per training step; a draw depends on it, the sentence and the position alone
  ScheduledSampling::Choice choice = ScheduledSampling::Choice::drawn;
};

}  // namespace bahdanau
