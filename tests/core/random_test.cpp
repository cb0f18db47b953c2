// Draws are pure functions of key and counter, and look random.
// The bounds on moments are five standard deviations of their estimates, for fixed keys: they never flicker.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>

#include <bahdanau/core/random.hpp>

#include "support/catch.hpp"

using bahdanau::random::Key;

namespace {

constexpr std::size_t draws = 200'000;

struct Moments {
  double mean = 0, variance = 0, skew = 0, kurtosis = 0;
};

template <class Draw>
Moments moments(Draw draw) {
  Moments m;
  for (std::size_t i = 0; i < draws; ++i) m.mean += draw(i) / draws;
  for (std::size_t i = 0; i < draws; ++i) {
    const double d = draw(i) - m.mean;
    m.variance += d * d / draws;
    m.skew += d * d * d / draws;
    m.kurtosis += d * d * d * d / draws;
  }
  return m;
}

const double root = std::sqrt(static_cast<double>(draws));

}  // namespace

TEST_CASE("a draw depends on key and counter alone", "[random]") {
  const Key key{7};
  const double early = key.uniform(3), normal = key.normal(3);
  for (std::uint64_t i = 0; i < 10; ++i) CHECK(key.uniform(i) != key.uniform(i + 1));
  CHECK(Key{7}.uniform(3) == early);
  CHECK(Key{7}.normal(3) == normal);
}

TEST_CASE("the stream of a key is the same on every machine and in every version", "[random]") {
  // Recorded: the weights of a seed and dropout masks hang on these bits. They are those of SplitMix64.
  // published.
  CHECK(Key{0}.bits(0) == 0xe220a8397b1dcdafULL);
  CHECK(Key{0}.bits(1) == 0x6e789e6aa1b965f4ULL);
  CHECK(Key{0}.bits(2) == 0x06c45d188009454fULL);
  static_assert(Key{0}.derive(4).state == Key{0}.bits(4), "a draw is a constant expression");
}

TEST_CASE("uniform draws fill the unit interval evenly", "[random]") {
  const Key key{1};
  for (std::size_t i = 0; i < draws; ++i) {
    const double u = key.uniform(i);
    if (u < 0 || u >= 1) FAIL("draw " << i << " is " << u);
  }
  const Moments m = moments([&](std::size_t i) { return key.uniform(i); });
  CHECK(std::abs(m.mean - 0.5) < 5 * std::sqrt(1.0 / 12) / root);
  CHECK(std::abs(m.variance - 1.0 / 12) < 5 * std::sqrt(1.0 / 180) / root);
}

TEST_CASE("normal draws have the moments of the standard normal", "[random]") {
  const Key key{2};
  const Moments m = moments([&](std::size_t i) { return key.normal(i); });
  CHECK(std::abs(m.mean) < 5 / root);
  CHECK(std::abs(m.variance - 1) < 5 * std::sqrt(2.0) / root);
  CHECK(std::abs(m.skew) < 5 * std::sqrt(15.0) / root);
  CHECK(std::abs(m.kurtosis - 3) < 5 * std::sqrt(96.0) / root);
}

TEST_CASE("different keys draw different numbers", "[random]") {
  std::set<std::uint64_t> seen;
  for (std::uint64_t seed = 0; seed < 10; ++seed)
    for (std::uint64_t word = 0; word < 10; ++word)
      for (std::uint64_t i = 0; i < 100; ++i) seen.insert(Key{seed}.derive(word).bits(i));
  CHECK(seen.size() == 10'000);
  CHECK(Key{1}.derive(2).derive(3).state != Key{1}.derive(3).derive(2).state);
}

TEST_CASE("the streams of one seed never share a key", "[random][streams]") {
  using bahdanau::random::key_of;
  using bahdanau::random::Stream;
  // As the library derives them: a parameter's key letter by letter, an epoch's order and the one below it of
  // its batches, a split, the masks of each step by place, layer and row, the tokens that it reads by their
  // number, a sentence's draws, a resample's, and an epoch's subwords by side. Who draws from which stream,
  // tests/train/streams_test.cpp finds out.
  std::set<std::uint64_t> seen;
  std::size_t drawn = 0;
  const auto see = [&](Key key) {
    seen.insert(key.state);
    ++drawn;
  };
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    for (std::uint64_t word = 0; word < 256; ++word) see(key_of(seed, Stream::weights).derive(word));
    see(key_of(seed, Stream::weights));
    see(key_of(seed, Stream::splitting));
    for (std::uint64_t epoch = 0; epoch < 5000; ++epoch) {
      const Key order = key_of(seed, Stream::shuffling).derive(epoch);
      see(order);
      see(order.derive(1));
      const Key segmentation = key_of(seed, Stream::segmentation).derive(epoch);
      see(segmentation);
      for (std::uint64_t side = 0; side < 4; ++side) see(segmentation.derive(side));
    }
    for (std::uint64_t number = 0; number < 5000; ++number) {
      see(key_of(seed, Stream::sampling).derive(number));
      see(key_of(seed, Stream::resampling).derive(number));
    }
    for (std::uint64_t step = 0; step < 5000; ++step) {
      const Key mask = key_of(seed, Stream::dropout).derive(step);
      see(mask);
      const Key inputs = key_of(seed, Stream::inputs).derive(step);
      see(inputs);
      for (std::uint64_t token = 0; token < 4; ++token) see(inputs.derive(token));
      for (std::uint64_t place = 1; place <= 3; ++place)
        for (std::uint64_t layer = 0; layer < 2; ++layer) see(mask.derive(place).derive(layer));
    }
  }
  CHECK(seen.size() == drawn);
}

TEST_CASE("draws of neighbouring counters and neighbouring keys are not correlated", "[random]") {
  const Key key{3}, other = key.derive(1), neighbour = key.derive(2);
  double counters = 0, keys = 0;
  for (std::size_t i = 0; i < draws; ++i) {
    counters += (key.uniform(i) - 0.5) * (key.uniform(i + 1) - 0.5);
    keys += (other.uniform(i) - 0.5) * (neighbour.uniform(i) - 0.5);
  }
  CHECK(std::abs(counters / draws) < 5.0 / 12 / root);
  CHECK(std::abs(keys / draws) < 5.0 / 12 / root);
}
