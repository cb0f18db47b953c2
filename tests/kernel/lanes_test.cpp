// Lanes at every level of instructions: what a tail must do that a body does.
#include <cstddef>
#include <limits>
#include <vector>

#include <bahdanau/kernel/lanes.hpp>

#include "kernel/rows.hpp"
#include "support/catch.hpp"
#include "support/levels.hpp"

using namespace bahdanau;
using namespace bahdanau::test;

namespace {

struct Twice {
  template <class V>
  pointwise::Values<V, 2> operator()(V x) const {
    return {{x, x}};
  }
};

}  // namespace

TEST_CASE("two outputs that add to one place both do, in a row's tail too", "[kernel][lanes]") {
  const std::vector<float> x(40, 1);
  for (const Instructions level : levels()) {
    const AtLevel at(level);
    std::vector<float> sum(40, 0);
    for_rows<float>(1, [&](auto lanes, std::size_t) {
      lanes.map(37, Twice{}, Add<float>{sum.data()}, Add<float>{sum.data()}, x.data());
    });
    for (std::size_t i = 0; i < sum.size(); ++i) REQUIRE(sum[i] == (i < 37 ? 2.0F : 0.0F));
  }
}

TEST_CASE("the largest value is not lost beside NaN", "[kernel][lanes]") {
  std::vector<float> x(100, -1);
  x[3] = 7;
  x[67] = std::numeric_limits<float>::quiet_NaN();  // in the same lane, later
  for (const Instructions level : levels()) {
    const AtLevel at(level);
    for_rows<float>(
        1, [&](auto lanes, std::size_t) { CHECK(lanes.max(100, pointwise::Identity{}, x.data()) == 7); });
  }
}
