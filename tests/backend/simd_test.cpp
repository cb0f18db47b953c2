// A launch over rows vectorises for every pointwise functor, tails included.
// Widths from 0 to beyond four of the widest vectors, so body and tail meet in every way.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>
#include <vector>

#include <bahdanau/backend/xtensor.hpp>
#include <bahdanau/core/random.hpp>

#include "support/catch.hpp"

using bahdanau::Add;
using bahdanau::AddShared;
using bahdanau::Store;
using bahdanau::Xtensor;
namespace pointwise = bahdanau::pointwise;

namespace {

constexpr std::size_t widest = 70, guard = 20;  // more guards than a vector has lanes

/// Calls work(lanes) in a launch of one row.
template <class T, class Work>
void in_row(Work work) {
  Xtensor<T>::for_rows(1, [&](auto lanes, std::size_t) { work(lanes); });
}

/// Positive numbers, so that a logarithm and a quotient of them exist.
template <class T>
std::vector<T> numbers(std::size_t n, std::uint64_t key) {
  std::vector<T> out(n);
  for (std::size_t i = 0; i < n; ++i)
    out[i] = static_cast<T>(0.05 + 2.5 * bahdanau::random::Key{key}.uniform(i));
  return out;
}

/// |a - b| in units of the last place of b, or of 1 where b is smaller.
template <class T>
double ulps(T a, T b) {
  return static_cast<double>(std::abs(a - b) / std::numeric_limits<T>::epsilon() /
                             std::max(T(1), std::abs(b)));
}

/// The largest error of the vector code beside the same functor called with scalars, for widths 0 to 70;
/// infinity where an element outside of the width was written.
template <class T, class F, class... Inputs>
double worst_map(F f, const Inputs&... inputs) {
  double worst = 0;
  for (std::size_t n = 0; n <= widest; ++n) {
    const T untouched = -77;
    std::vector<T> out(n + 2 * guard, untouched);
    in_row<T>([&](auto lanes) { lanes.map(n, f, Store<T>{out.data() + guard}, inputs.data()...); });
    for (std::size_t i = 0; i < guard; ++i)
      if (out[i] != untouched || out[guard + n + i] != untouched)
        return std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < n; ++i) worst = std::max(worst, ulps(out[guard + i], f(inputs[i]...)));
  }
  return worst;
}

/// Counts which kind of value reaches it.
struct Witness {
  inline static std::size_t scalars, vectors, lanes;
  template <class V>
  V operator()(V x) const {
    if constexpr (std::is_arithmetic_v<V>)
      ++scalars;
    else
      ++vectors;
    lanes = sizeof(V);
    return x + x;
  }
};

/// Three results of three inputs.
struct Mixed {
  template <class V>
  pointwise::Values<V, 3> operator()(V a, V b, V c) const {
    return {{a + b, a * c, pointwise::tanh(b - c)}};
  }
};

}  // namespace

TEMPLATE_TEST_CASE("vectors reach a functor, in a row's tail too", "[simd]", float, double) {
  using T = TestType;
  for (std::size_t n = 0; n <= widest; ++n) {
    const std::vector<T> in = numbers<T>(n, 1);
    std::vector<T> out(n);
    Witness::scalars = Witness::vectors = 0;
    in_row<T>([&](auto lanes) { lanes.map(n, Witness{}, Store<T>{out.data()}, in.data()); });
    const std::size_t width = Witness::lanes / sizeof(T);
    CAPTURE(n, width);
    CHECK(Witness::scalars == 0);
    if (n == 0) continue;
    CHECK(width >= 2);
    CHECK(Witness::vectors == (n + width - 1) / width);
    for (std::size_t i = 0; i < n; ++i) REQUIRE(out[i] == 2 * in[i]);
  }
}

TEMPLATE_TEST_CASE("every pointwise functor gives in vectors what it gives alone", "[simd]", float, double) {
  using T = TestType;
  const std::vector<T> a = numbers<T>(widest, 1), b = numbers<T>(widest, 2), c = numbers<T>(widest, 3);
  CHECK(worst_map<T>(pointwise::Identity{}, a) == 0);
  CHECK(worst_map<T>(pointwise::Negate{}, a) == 0);
  CHECK(worst_map<T>(pointwise::Plus{}, a, b) == 0);
  CHECK(worst_map<T>(pointwise::Minus{}, a, b) == 0);
  CHECK(worst_map<T>(pointwise::Times{}, a, b) == 0);
  CHECK(worst_map<T>(pointwise::Times3{}, a, b, c) == 0);
  CHECK(worst_map<T>(pointwise::Divide{}, a, b) == 0);
  CHECK(worst_map<T>(pointwise::Tanh{}, a) <= 4);
  CHECK(worst_map<T>(pointwise::Sigmoid{}, a) <= 4);
  CHECK(worst_map<T>(pointwise::Exp{}, a) <= 4);
  CHECK(worst_map<T>(pointwise::Log{}, a) <= 4);
  // A functor that the library does not know, as a user writes it.
  CHECK(worst_map<T>([](auto x, auto y) { return x * x - y; }, a, b) <= 4);
}

TEMPLATE_TEST_CASE("a functor of several results stores each in its own place", "[simd]", float, double) {
  using T = TestType;
  const std::vector<T> a = numbers<T>(widest, 1), b = numbers<T>(widest, 2), c = numbers<T>(widest, 3);
  for (std::size_t n = 0; n <= widest; ++n) {
    std::vector<T> sum(n + 1, -1), product(n + 1, 5), other(n + 1, -1);
    in_row<T>([&](auto lanes) {
      lanes.map(n, Mixed{}, Store<T>{sum.data()}, Add<T>{product.data()}, Store<T>{other.data()}, a.data(),
                b.data(), c.data());
    });
    double worst = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const auto expected = Mixed{}(a[i], b[i], c[i]);
      worst = std::max({worst, ulps(sum[i], expected.value[0]), ulps(product[i], 5 + expected.value[1]),
                        ulps(other[i], expected.value[2])});
    }
    CAPTURE(n);
    CHECK(worst <= 4);
    CHECK((sum[n] == -1 && product[n] == 5 && other[n] == -1));
  }
}

TEMPLATE_TEST_CASE("outputs add where they are asked to", "[simd]", float, double) {
  using T = TestType;
  const std::vector<T> a = numbers<T>(widest, 1);
  for (std::size_t n = 0; n <= widest; ++n) {
    std::vector<T> added(widest + guard, 3), shared(widest + guard, 3), stored(widest + guard, 3);
    in_row<T>([&](auto lanes) {
      for (int twice = 0; twice < 2; ++twice) {
        lanes.map(n, pointwise::Identity{}, Add<T>{added.data()}, a.data());
        lanes.map(n, pointwise::Identity{}, AddShared<T>{shared.data()}, a.data());
        lanes.map(n, pointwise::Identity{}, Store<T>{stored.data()}, a.data());
      }
    });
    for (std::size_t i = 0; i < added.size(); ++i) {
      CAPTURE(n, i);
      REQUIRE(added[i] == (i < n ? 3 + a[i] + a[i] : 3));
      REQUIRE(shared[i] == added[i]);
      REQUIRE(stored[i] == (i < n ? a[i] : 3));
    }
  }
}

TEMPLATE_TEST_CASE("a scalar input stands for one value in every column", "[simd]", float, double) {
  using T = TestType;
  const std::vector<T> a = numbers<T>(widest, 1);
  for (std::size_t n = 0; n <= widest; ++n) {
    std::vector<T> out(n);
    in_row<T>([&](auto lanes) { lanes.map(n, pointwise::Times{}, Store<T>{out.data()}, a.data(), T(0.5)); });
    for (std::size_t i = 0; i < n; ++i) REQUIRE(out[i] == a[i] / 2);
  }
}

TEST_CASE("a launch calls its kernel once for each row", "[simd]") {
  for (const std::size_t rows : {0U, 1U, 2U, 17U}) {
    std::vector<int> calls(rows);
    Xtensor<float>::for_rows(rows, [&](auto, std::size_t row) { ++calls.at(row); });
    CHECK(std::all_of(calls.begin(), calls.end(), [](int count) { return count == 1; }));
  }
}
