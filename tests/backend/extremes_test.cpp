// Functions of numbers at the ends of their range, in vectors: what a hostile file's weights lead to.
#include <cmath>
#include <concepts>
#include <limits>

#include <bahdanau/kernel/pointwise.hpp>
#include <bahdanau/backend/xtensor.hpp>

#include "support/catch.hpp"

namespace pointwise = bahdanau::pointwise;

TEMPLATE_TEST_CASE("vectors have the right limits of exp, sigmoid and tanh", "[backend][simd]", float,
                   double) {
  using Vector = xsimd::batch<TestType>;
  using Limits = std::numeric_limits<TestType>;
  for (const TestType large : {TestType(1e30), Limits::max(), Limits::infinity()}) {
    CHECK(pointwise::exp(Vector(large)).get(0) == Limits::infinity());
    CHECK(pointwise::exp(Vector(-large)).get(0) == 0);
    CHECK(pointwise::sigmoid(Vector(large)).get(0) == 1);
    CHECK(pointwise::sigmoid(Vector(-large)).get(0) == 0);
    CHECK(pointwise::tanh(Vector(large)).get(0) == 1);
    CHECK(pointwise::tanh(Vector(-large)).get(0) == -1);
  }
  // Without SSE4.1, xsimd's exp of doubles rounds by way of integers, which NaN has none of: clang++ makes a
  // number of it. See docs/reliability.md.
#if defined(__clang__) && !defined(__SSE4_1__)
  if (std::same_as<TestType, double>) {
    WARN("not checked: NaN in vectors of doubles without SSE4.1, which xsimd and clang++ lose");
    return;
  }
#endif
  CHECK(std::isnan(pointwise::exp(Vector(Limits::quiet_NaN())).get(0)));
  CHECK(std::isnan(pointwise::sigmoid(Vector(Limits::quiet_NaN())).get(0)));
  CHECK(std::isnan(pointwise::tanh(Vector(Limits::quiet_NaN())).get(0)));
}
