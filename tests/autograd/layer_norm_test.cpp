// Layer normalisation: by hand, its gradient, and what it refuses.
#include <cmath>
#include <cstddef>
#include <vector>

#include <bahdanau/autograd/ops/layer_norm.hpp>

#include "support/backends.hpp"
#include "support/catch.hpp"
#include "support/gradient.hpp"

using namespace bahdanau::test;
using bahdanau::Error;
using Catch::Matchers::Message;
using Numbers = std::vector<double>;

TEST_CASE("layer_norm brings each row to mean 0 and variance 1, then scales and shifts it", "[ops][norm]") {
  DoubleTape tape(DoubleTape::Mode::checked);
  const auto x = tape.leaf({2, 4}, Numbers{1, 3, 5, 7, 2, 2, 2, 2});
  const auto gain = tape.leaf({4}, Numbers{1, 1, 2, -1}), bias = tape.leaf({4}, Numbers{0, 0.5, 0, 1});
  const auto y = on_host<Double>(bahdanau::layer_norm(x, gain, bias).value, 8);
  // The first row has mean 4 and variance (9 + 1 + 1 + 9) / 4 = 5; the second has no variance at all.
  const double s = 1 / std::sqrt(5 + 1e-5);
  const Numbers expected{-3 * s, -s + 0.5, 2 * s, -3 * s + 1, 0, 0.5, 0, 1};
  for (std::size_t i = 0; i < 8; ++i) CHECK(y[i] == Approx(expected[i]).margin(1e-14));
}

TEST_CASE("layer_norm passes the gradient check, gain and bias included", "[ops][norm][gradient]") {
  const Function f = [](DoubleTape&, Inputs in) { return bahdanau::layer_norm(in[0], in[1], in[2]); };
  CHECK(gradient_error(f, {{3, 5}, {5}, {5}}) <= gradient_tolerance);
  CHECK(gradient_error(f, {{2, 37}, {37}, {37}}) <= gradient_tolerance);
  // x also has another reader, so that its gradient is added to.
  const Function again = [](DoubleTape&, Inputs in) {
    return bahdanau::layer_norm(in[0], in[1], in[1]) * in[0] + bahdanau::layer_norm(in[0], in[1], in[1]);
  };
  CHECK(gradient_error(again, {{3, 5}, {5}}) <= gradient_tolerance);
}

TEST_CASE("layer_norm refuses a gain or bias that does not fit", "[ops][norm][error]") {
  DoubleTape tape(DoubleTape::Mode::checked);
  const auto x = tape.zeros({2, 5}), five = tape.zeros({5}), four = tape.zeros({4});
  CHECK_THROWS_MATCHES(bahdanau::layer_norm(x, four, five), Error,
                       Message("layer_norm: expected a gain [5], got [4]"));
  CHECK_THROWS_MATCHES(bahdanau::layer_norm(x, five, four), Error,
                       Message("layer_norm: expected a bias [5], got [4]"));
  DoubleTape other;
  CHECK_THROWS_MATCHES(bahdanau::layer_norm(x, five, other.zeros({5})), Error,
                       Message("layer_norm: expected variables of one tape, got variables of two tapes"));
}
