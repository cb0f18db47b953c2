// A value does not depend on its position: the same bits in the body of a row and in its tail.
// So a sentence's numbers do not change with the width of the layer's other units.
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include <bahdanau/autograd/ops/pointwise.hpp>
#include <bahdanau/backend/xtensor.hpp>
#include <bahdanau/cell/gru.hpp>
#include <bahdanau/cell/lstm.hpp>
#include <bahdanau/score/additive.hpp>

#include "support/catch.hpp"

using bahdanau::Add;
using bahdanau::Store;
using bahdanau::Xtensor;
namespace pointwise = bahdanau::pointwise;

namespace {

constexpr std::size_t widest = 40;

template <class T>
bool same_bits(T a, T b) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  return std::bit_cast<Bits>(a) == std::bit_cast<Bits>(b);
}

/// Whether f gives the same bits for the same inputs in every column of every width, stored and added.
template <class T, class F, class... Inputs>
bool same_everywhere(F f, Inputs... inputs) {
  T stored{}, added{};
  bool same = true;
  for (std::size_t n = 1; n <= widest; ++n) {
    const std::vector<std::vector<T>> columns{std::vector<T>(n, inputs)...};
    std::vector<T> store(n), add(n, T(0.3));
    Xtensor<T>::for_rows(1, [&](auto lanes, std::size_t) {
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        lanes.map(n, f, Store<T>{store.data()}, columns[I].data()...);
        lanes.map(n, f, Add<T>{add.data()}, columns[I].data()...);
      }
      (std::index_sequence_for<Inputs...>{});
    });
    if (n == 1) stored = store[0], added = add[0];
    for (std::size_t i = 0; i < n; ++i)
      same = same && same_bits(store[i], stored) && same_bits(add[i], added);
  }
  return same;
}

/// One of a functor's several results.
template <class F, std::size_t Which>
struct Part {
  template <class V, class... Rest>
  V operator()(V first, Rest... rest) const {
    return F{}(first, rest...).value[Which];
  }
};

}  // namespace

TEMPLATE_TEST_CASE("functions of one value give the same bits in every column", "[simd]", float, double) {
  using T = TestType;
  for (const double number : {-30.0, -3.3, -0.7, -1e-3, 0.0, 1e-9, 0.11, 0.6, 1.7, 5.1, 40.0}) {
    const T x = static_cast<T>(number);
    CAPTURE(x);
    CHECK(same_everywhere<T>(pointwise::Tanh{}, x));
    CHECK(same_everywhere<T>(pointwise::Sigmoid{}, x));
    CHECK(same_everywhere<T>(pointwise::Exp{}, x));
    CHECK(same_everywhere<T>(pointwise::Affine<T>{T(1.1), T(0.7)}, x));
    if (x > 0) CHECK(same_everywhere<T>(pointwise::Log{}, x));
  }
}

TEMPLATE_TEST_CASE("sums of products give the same bits in every column", "[simd]", float, double) {
  using T = TestType;
  const T a = T(0.7301), b = T(-1.3702), c = T(0.4103), d = T(1.2904), e = T(-0.2205), f = T(0.9106),
          g = T(0.3307), h = T(-0.8408), i = T(0.559);
  // Where a compiler joins a product and a sum, it must do so everywhere.
  CHECK(same_everywhere<T>(pointwise::Times{}, a, b));
  CHECK(same_everywhere<T>(pointwise::Times3{}, a, b, c));
  CHECK(same_everywhere<T>(pointwise::DivideDerivativeB{}, a, b, c));
  CHECK(same_everywhere<T>(pointwise::AdditiveTerm{}, a, b, c));
  CHECK(same_everywhere<T>(Part<pointwise::AdditiveTermAdjoint, 0>{}, a, b, c, d));
  CHECK(same_everywhere<T>(Part<pointwise::GruStep, 4>{}, a, b, c, d, e, f, g));
  CHECK(same_everywhere<T>(Part<pointwise::GruStepAdjoint, 0>{}, a, b, c, d, e, f));
  CHECK(same_everywhere<T>(Part<pointwise::LstmStep, 5>{}, a, b, c, d, e, f, g, h, i));
  CHECK(same_everywhere<T>(Part<pointwise::LstmStepAdjoint, 1>{}, a, b, c, d, e, f, g, h));
}

TEMPLATE_TEST_CASE("large arguments saturate and never become NaN", "[simd]", float, double) {
  using T = TestType;
  constexpr T infinity = std::numeric_limits<T>::infinity();
  const std::vector<T> x = {-infinity, T(-1e30), -1000, 1000, T(1e30), infinity};
  std::vector<T> tanh(x.size()), sigmoid(x.size()), exp(x.size());
  Xtensor<T>::for_rows(1, [&](auto lanes, std::size_t) {
    lanes.map(x.size(), pointwise::Tanh{}, Store<T>{tanh.data()}, x.data());
    lanes.map(x.size(), pointwise::Sigmoid{}, Store<T>{sigmoid.data()}, x.data());
    lanes.map(x.size(), pointwise::Exp{}, Store<T>{exp.data()}, x.data());
  });
  CHECK(tanh == std::vector<T>{-1, -1, -1, 1, 1, 1});
  CHECK(sigmoid == std::vector<T>{0, 0, 0, 1, 1, 1});
  CHECK(exp == std::vector<T>{0, 0, 0, infinity, infinity, infinity});
}
