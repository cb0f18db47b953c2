// Reductions of a row: right for every width.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <bahdanau/backend/xtensor.hpp>
#include <bahdanau/core/random.hpp>

#include "support/catch.hpp"

using bahdanau::Xtensor;
using bahdanau::random::Key;
namespace pointwise = bahdanau::pointwise;

namespace {

constexpr std::size_t widest = 70;

template <class T>
std::vector<T> normal_numbers(std::size_t n, std::uint64_t key) {
  std::vector<T> out(n);
  for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<T>(Key{key}.normal(i));
  return out;
}

}  // namespace

TEMPLATE_TEST_CASE("the sum of a row takes in its n columns and nothing beyond", "[simd]", float, double) {
  using T = TestType;
  std::vector<T> a = normal_numbers<T>(widest + 1, 1), b = normal_numbers<T>(widest + 1, 2);
  for (std::size_t n = 0; n <= widest; ++n) {
    const T here = a[n];
    a[n] = T(1e20);  // would drown everything
    double plain = 0, product = 0, exponentials = 0;
    for (std::size_t i = 0; i < n; ++i) {
      plain += static_cast<double>(a[i]);
      product += static_cast<double>(a[i]) * static_cast<double>(b[i]);
      exponentials += std::exp(static_cast<double>(a[i]));
    }
    Xtensor<T>::for_rows(1, [&](auto lanes, std::size_t) {
      CAPTURE(n);
      const double tolerance = 100 * static_cast<double>(std::numeric_limits<T>::epsilon());
      CHECK(lanes.sum(n, pointwise::Identity{}, a.data()) == Approx(plain).margin(tolerance));
      CHECK(lanes.sum(n, pointwise::Times{}, a.data(), b.data()) == Approx(product).margin(tolerance));
      // e^0 is not 0: lanes beyond the end must not count
      CHECK(lanes.sum(n, pointwise::Exp{}, a.data()) == Approx(exponentials).margin(tolerance));
      CHECK(lanes.sum(n, pointwise::Times{}, a.data(), T(2)) == Approx(2 * plain).margin(2 * tolerance));
    });
    a[n] = here;
  }
}

TEMPLATE_TEST_CASE("the largest of a row is found in every column", "[simd]", float, double) {
  using T = TestType;
  for (std::size_t n = 1; n <= widest; ++n)
    for (std::size_t place = 0; place < n; ++place) {
      // All negative: a lane beyond the end that held 0 or 1 would win.
      std::vector<T> a(n + 1, -5);
      a[place] = -3;
      a[n] = 7;
      Xtensor<T>::for_rows(1, [&](auto lanes, std::size_t) {
        REQUIRE(lanes.max(n, pointwise::Identity{}, a.data()) == -3);
        REQUIRE(lanes.max(n, pointwise::Negate{}, a.data()) == (n == 1 ? 3 : 5));
      });
    }
}

TEMPLATE_TEST_CASE("a value above a limit is seen in every column, and none beyond the end", "[simd]", float,
                   double) {
  using T = TestType;
  for (std::size_t n = 1; n <= 2 * widest; ++n)
    for (std::size_t place = 0; place <= n; ++place) {
      std::vector<T> a(n + 1, -5);
      a[place] = 7;
      Xtensor<T>::for_rows(1, [&](auto lanes, std::size_t) {
        REQUIRE(lanes.any_above(n, a.data(), T(6)) == (place < n));
        REQUIRE_FALSE(lanes.any_above(n, a.data(), T(7)));
      });
    }
}
