// Where dropout acts in a training step, and with which keys.
// A mask depends on the step, the place, the sentence, the position and the unit, never on shards or threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include <bahdanau/autograd/ops/dropout.hpp>
#include <bahdanau/core/random.hpp>

namespace bahdanau {

/// The dropout of one training step; the default drops nothing.
struct DropoutPlan {
  double rate = 0;
  random::Key key;  // one per training step

  bool active() const { return rate > 0; }
  DropoutMask encoder(std::size_t layer) const { return at(1, layer); }
  DropoutMask decoder(std::size_t layer) const { return at(2, layer); }
  DropoutMask attention() const { return at(3, 0); }

 private:
  DropoutMask at(std::uint64_t place, std::size_t layer) const {
    return {rate, key.derive(place).derive(layer)};
  }
};

}  // namespace bahdanau
