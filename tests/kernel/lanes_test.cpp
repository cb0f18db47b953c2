// Lanes at every level of instructions: what a tail must do that a body does.
#include <cmath>
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

TEMPLATE_TEST_CASE("a scalar input of another type is converted", "[kernel][lanes]", float, double) {
  const std::vector<TestType> x(20, 3);
  for (const Instructions level : levels()) {
    const AtLevel at(level);
    std::vector<TestType> halves(20), doubles(20), quarters(20);
    TestType sum = 0;
    for_rows<TestType>(1, [&](auto lanes, std::size_t) {
      lanes.map(20, pointwise::Times{}, Store<TestType>{halves.data()}, x.data(), 0.5);
      lanes.map(20, pointwise::Times{}, Store<TestType>{doubles.data()}, x.data(), 2);
      lanes.map(20, pointwise::Times{}, Store<TestType>{quarters.data()}, x.data(), 0.25F);
      sum = lanes.sum(20, pointwise::Times{}, x.data(), 0.5);
    });
    CHECK(halves == std::vector<TestType>(20, TestType(1.5)));
    CHECK(doubles == std::vector<TestType>(20, TestType(6)));
    CHECK(quarters == std::vector<TestType>(20, TestType(0.75)));
    CHECK(sum == TestType(30));
  }
}

TEST_CASE("zeros keep their signs in a row's tail, as in its body", "[kernel][lanes]") {
  const std::vector<float> x(24, -0.0F);
  for (const Instructions level : levels()) {
    const AtLevel at(level);
    std::vector<float> sum(24, -0.0F);
    for_rows<float>(1, [&](auto lanes, std::size_t) {
      lanes.map(24, pointwise::Identity{}, Add<float>{sum.data()}, x.data());
    });
    for (const float one : sum) CHECK(std::signbit(one));
  }
}

TEST_CASE("a value above a limit is seen wherever it lies, also beside NaN", "[kernel][lanes]") {
  for (const Instructions level : levels()) {
    const AtLevel at(level);
    for (std::size_t place = 0; place < 131; ++place) {
      std::vector<float> x(131, 1), beside(131, std::numeric_limits<float>::quiet_NaN());
      x[place] = beside[place] = 3;
      for_rows<float>(1, [&](auto lanes, std::size_t) {
        CHECK(lanes.any_above(131, x.data(), 2));
        CHECK(lanes.any_above(131, beside.data(), 2));
        CHECK_FALSE(lanes.any_above(131, x.data(), 3));
      });
    }
  }
}
