// Counter-based random numbers: a draw is a pure function of a key and a counter.
// So a mask or an initial weight does not depend on who draws it, in what order, or on how many threads.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>

#include <bahdanau/core/device.hpp>

namespace bahdanau::random {

/// Mixes 64 bits so that every input bit reaches every output bit (the finaliser of SplitMix64).
BAHDANAU_HOST_DEVICE constexpr std::uint64_t mix(std::uint64_t bits) {
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9ULL;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebULL;
  return bits ^ (bits >> 31);
}

/// Names an independent stream: keys derived with different words never share draws in practice.
struct Key {
  std::uint64_t state = 0;

  /// The stream named `word` below this one, e.g. `Key{seed}.derive(step).derive(site)`.
  BAHDANAU_HOST_DEVICE constexpr Key derive(std::uint64_t word) const {
    return {mix(state + 0x9e3779b97f4a7c15ULL * (word + 1))};
  }
  /// 64 random bits for a counter.
  BAHDANAU_HOST_DEVICE constexpr std::uint64_t bits(std::uint64_t counter) const {
    return mix(state + 0x9e3779b97f4a7c15ULL * (counter + 1));
  }
  /// Uniform in [0, 1) with the 53 bits a double holds.
  BAHDANAU_HOST_DEVICE constexpr double uniform(std::uint64_t counter) const {
    return static_cast<double>(bits(counter) >> 11) * 0x1.0p-53;
  }
  /// Standard normal, by Box and Muller from two draws.
  double normal(std::uint64_t counter) const {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform(2 * counter)));
    return radius * std::cos(2.0 * std::numbers::pi * uniform(2 * counter + 1));
  }
};

/// What the numbers of one seed are for. Each has a stream of its own, so that no weight, order or mask
/// repeats another's draws.
enum class Stream : std::uint64_t {
  weights,
  shuffling,
  splitting,
  dropout,
  sampling,
  inputs,
  resampling,
  segmentation
};

/// The key of a seed's stream: `key_of(seed, Stream::dropout).derive(step)`, say.
BAHDANAU_HOST_DEVICE constexpr Key key_of(std::uint64_t seed, Stream stream) {
  // Mixed first: the streams of neighbouring seeds, whose keys lie side by side, must not meet either.
  return Key{mix(seed)}.derive(static_cast<std::uint64_t>(stream));
}

}  // namespace bahdanau::random
