// Where dropout acts in a training step, and with which keys.
// A mask depends on the step, the place, the sentence, the position (or not: `DropoutMasks::per_sequence`)
// and the unit, never on shards or threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include <bahdanau/autograd/ops/dropout.hpp>
#include <bahdanau/core/random.hpp>
#include <bahdanau/model/config.hpp>

namespace bahdanau {

/// The dropout of one training step; the default drops nothing.
struct DropoutPlan {
  double rate = 0;
  random::Key key;  // one per training step
  double embedding_rate = 0;
  DropoutMasks masks = DropoutMasks::per_position;

  bool active() const { return rate > 0 || embedding_rate > 0; }
  /// Whether a sentence's rows have one mask, but for attention weights, which always have one a position: a
  /// source word that is dropped from all steps would never be attended to.
  bool per_sequence() const { return masks == DropoutMasks::per_sequence; }
  DropoutMask encoder(std::size_t layer) const { return at(1, layer, rate); }
  DropoutMask decoder(std::size_t layer) const { return at(2, layer, rate); }
  DropoutMask attention() const { return at(3, 0, rate); }
  DropoutMask source_embedding() const { return at(4, 0, embedding_rate); }
  DropoutMask target_embedding() const { return at(5, 0, embedding_rate); }

 private:
  DropoutMask at(std::uint64_t place, std::size_t layer, double dropped) const {
    return {dropped, key.derive(place).derive(layer)};
  }
};

}  // namespace bahdanau
