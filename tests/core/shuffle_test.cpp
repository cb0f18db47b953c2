// A permutation that a key decides, in whole and in part.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include <bahdanau/core/random.hpp>
#include <bahdanau/core/shuffle.hpp>

#include "support/catch.hpp"

namespace bd = bahdanau;

TEST_CASE("a shuffle has every number once, in an order that only the key decides", "[core][random]") {
  const auto order = bd::detail::shuffled(1000, {1});
  CHECK(order == bd::detail::shuffled(1000, {1}));
  CHECK(order != bd::detail::shuffled(1000, {2}));
  std::vector<std::size_t> sorted = order, all(1000);
  std::iota(all.begin(), all.end(), std::size_t{0});
  std::sort(sorted.begin(), sorted.end());
  CHECK(sorted == all);
  CHECK(bd::detail::shuffled(0, {1}).empty());
  // By hand: swaps of places 2 and bits(3) mod 3, then of 1 and bits(2) mod 2.
  const bd::random::Key key{7};
  std::vector<std::size_t> three{0, 1, 2};
  std::swap(three[2], three[key.bits(3) % 3]);
  std::swap(three[1], three[key.bits(2) % 2]);
  CHECK(bd::detail::shuffled(3, key) == three);
}

TEST_CASE("what a shuffle has at some places is that of the whole shuffle", "[core][random]") {
  for (const std::size_t n : {1U, 2U, 3U, 10U, 100U, 5000U})
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const auto whole = bd::detail::shuffled(n, {seed});
      for (const std::uint64_t apart : {1U, 2U, 7U, 100U}) {  // all, or one of so many, where chance has it
        std::vector<std::size_t> places, expected;
        for (std::size_t i = 0; i < n; ++i) {
          if (bd::random::Key{seed + 99}.bits(i) % apart != 0) continue;
          places.push_back(i);
          expected.push_back(whole[i]);
        }
        REQUIRE(bd::detail::shuffled_at(n, {seed}, places) == expected);
      }
    }
}
