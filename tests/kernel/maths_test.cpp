// exp, tanh, log and sqrt of vectors: their error over the whole range, their limits, and equal bits at
// levels that fuse.
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include <bahdanau/backend/xtensor.hpp>

#include "support/catch.hpp"
#include "support/levels.hpp"

namespace bd = bahdanau;
namespace pointwise = bahdanau::pointwise;

namespace {

/// f of all numbers, in vectors of the level in use.
template <class T, class F>
std::vector<T> in_vectors(F f, const std::vector<T>& x) {
  std::vector<T> y(x.size());
  bd::Xtensor<T>::for_rows(
      1, [&](auto lanes, std::size_t) { lanes.map(x.size(), f, bd::Store<T>{y.data()}, x.data()); });
  return y;
}

/// Numbers of all sizes between the bounds: evenly spread ones, and some of every exponent, denormal ones
/// too.
template <class T>
std::vector<T> whole_range(double from, double to) {
  using Limits = std::numeric_limits<T>;
  std::vector<T> x;
  const int even = 200'000;
  for (int i = 0; i <= even; ++i) x.push_back(static_cast<T>(from + (to - from) * i / even));
  for (int e = Limits::min_exponent - Limits::digits; e <= Limits::max_exponent; ++e)
    for (const double m : {0.5, 0.61, 0.7071, 0.7072, 0.85, 0.999})
      for (const int sign : {-1, 1}) {
        const T number = std::ldexp(static_cast<T>(sign * m), e);
        if (number >= from && number <= to) x.push_back(number);
      }
  return x;
}

/// |got - exact| in units of the last place of the exact number.
template <class T>
double ulps(T got, long double exact) {
  const T near = static_cast<T>(exact);
  if (got == near) return 0;
  if (!std::isfinite(got) || !std::isfinite(near)) return std::numeric_limits<double>::infinity();
  const T size = std::abs(near);
  const long double place =
      size == std::numeric_limits<T>::max()
          ? static_cast<long double>(size) - std::nextafter(size, T(0))
          : static_cast<long double>(std::nextafter(size, std::numeric_limits<T>::max())) - size;
  return static_cast<double>(std::abs(static_cast<long double>(got) - exact) / place);
}

template <class T, class F, class Exact>
double worst(F f, Exact exact, double from, double to) {
  const std::vector<T> x = whole_range<T>(from, to), y = in_vectors(f, x);
  double most = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    most = std::max(most, ulps(y[i], exact(static_cast<long double>(x[i]))));
  return most;
}

}  // namespace

TEMPLATE_TEST_CASE("exp, tanh, log and sqrt are right to some units of the last place, over the whole range",
                   "[kernel][maths]", float, double) {
  using T = TestType;
  const double largest = static_cast<double>(std::numeric_limits<T>::max());
  const bool single = sizeof(T) == 4;
  for (const bd::Instructions level : bd::test::levels()) {
    const bd::test::AtLevel at(level);
    CAPTURE(bd::name(level));
    CHECK(worst<T>(
              pointwise::Exp{}, [](long double x) { return std::exp(x); }, single ? -110 : -750,
              single ? 90 : 711) <= 1.1);
    CHECK(worst<T>(
              pointwise::Tanh{}, [](long double x) { return std::tanh(x); }, -25, 25) <= 3);
    CHECK(worst<T>(
              pointwise::Log{}, [](long double x) { return std::log(x); }, 0, largest) <= 2.1);
    CHECK(worst<T>(
              pointwise::Log{}, [](long double x) { return std::log(x); }, 0.4, 2.5) <= 2.1);
    CHECK(worst<T>(
              pointwise::Sqrt{}, [](long double x) { return std::sqrt(x); }, 0, largest) <= 1);
    CHECK(worst<T>(
              pointwise::Sigmoid{}, [](long double x) { return 1 / (1 + std::exp(-x)); }, -30, 30) <= 3);
  }
}

TEMPLATE_TEST_CASE("vectors have the right limits, and keep NaN", "[kernel][maths]", float, double) {
  using T = TestType;
  using Limits = std::numeric_limits<T>;
  const T infinity = Limits::infinity(), nan = Limits::quiet_NaN();
  for (const bd::Instructions level : bd::test::levels()) {
    const bd::test::AtLevel at(level);
    CAPTURE(bd::name(level));
    const auto one = [](auto f, T x) { return in_vectors(f, std::vector<T>{x})[0]; };
    for (const T large : {T(1e30), Limits::max(), infinity}) {
      CHECK(one(pointwise::Exp{}, large) == infinity);
      CHECK(one(pointwise::Exp{}, -large) == 0);
      CHECK(one(pointwise::Sigmoid{}, large) == 1);
      CHECK(one(pointwise::Sigmoid{}, -large) == 0);
      CHECK(one(pointwise::Tanh{}, large) == 1);
      CHECK(one(pointwise::Tanh{}, -large) == -1);
    }
    CHECK(one(pointwise::Log{}, infinity) == infinity);
    CHECK(one(pointwise::Log{}, T(0)) == -infinity);
    CHECK(one(pointwise::Log{}, T(1)) == 0);
    CHECK(std::isnan(one(pointwise::Log{}, T(-1))));
    CHECK(one(pointwise::Sqrt{}, infinity) == infinity);
    CHECK(one(pointwise::Sqrt{}, T(0)) == 0);
    CHECK(std::isnan(one(pointwise::Sqrt{}, T(-1))));
    CHECK(std::signbit(one(pointwise::Tanh{}, T(-0.0))));
    for (const T result :
         {one(pointwise::Exp{}, nan), one(pointwise::Sigmoid{}, nan), one(pointwise::Tanh{}, nan),
          one(pointwise::Log{}, nan), one(pointwise::Sqrt{}, nan)})
      CHECK(std::isnan(result));
  }
}

TEMPLATE_TEST_CASE("AVX2 and AVX-512 give the same bits: functions, sums and largest values",
                   "[kernel][bits]", float, double) {
  using T = TestType;
  std::vector<std::vector<T>> results;
  for (const bd::Instructions level : bd::test::levels()) {
    if (level == bd::Instructions::baseline) continue;  // has no fused instructions
    const bd::test::AtLevel at(level);
    const std::vector<T> x = whole_range<T>(-20, 20);
    std::vector<T>& all = results.emplace_back();
    const auto add = [&](const std::vector<T>& y) { all.insert(all.end(), y.begin(), y.end()); };
    add(in_vectors(pointwise::Exp{}, x));
    add(in_vectors(pointwise::Tanh{}, x));
    add(in_vectors(pointwise::Sigmoid{}, x));
    add(in_vectors(pointwise::Sqrt{}, in_vectors(pointwise::Exp{}, x)));
    add(in_vectors(pointwise::Log{}, in_vectors(pointwise::Exp{}, x)));
    bd::Xtensor<T>::for_rows(1, [&](auto lanes, std::size_t) {
      for (std::size_t n = 1; n < 150; ++n) {
        all.push_back(lanes.sum(n, pointwise::Tanh{}, x.data()));
        all.push_back(lanes.sum(n, pointwise::Times{}, x.data(), x.data() + 7));
        all.push_back(lanes.sum(n, pointwise::Exp{}, x.data()));
        all.push_back(lanes.max(n, pointwise::Tanh{}, x.data()));
        std::vector<T> added(n, T(0.3));
        lanes.map(n, pointwise::Times{}, bd::Add<T>{added.data()}, x.data(), T(0.7));
        all.insert(all.end(), added.begin(), added.end());
      }
    });
  }
  for (const auto& other : results) CHECK((other == results[0]));
}
