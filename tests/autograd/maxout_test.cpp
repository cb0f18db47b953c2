// Maxout: by hand, its gradient, and what it refuses.
#include <vector>

#include <bahdanau/autograd/ops/maxout.hpp>

#include "support/backends.hpp"
#include "support/catch.hpp"
#include "support/gradient.hpp"

using namespace bahdanau::test;
using bahdanau::Error;
using Catch::Matchers::Message;

TEST_CASE("maxout keeps the larger of neighbours, and its gradient goes there", "[ops][maxout]") {
  DoubleTape tape(DoubleTape::Mode::checked);
  const auto x = tape.leaf({2, 4}, std::vector<double>{1, 3, -2, -5, 0, 0, 7, -1});
  const auto y = bahdanau::maxout(x);
  CHECK(on_host<Double>(y.value, 4) == std::vector<double>{3, -2, 0, 7});
  const auto weighted = y * tape.constant({2, 2}, std::vector<double>{1, 10, 100, 1000});
  tape.backward(sum(weighted));
  const auto dx = bahdanau::gradient<2>(x);
  CHECK(std::vector<double>(dx.begin(), dx.end()) == std::vector<double>{0, 1, 10, 0, 100, 0, 1000, 0});
}

TEST_CASE("maxout passes the gradient check", "[ops][maxout][gradient]") {
  const Function f = [](DoubleTape&, Inputs in) { return bahdanau::maxout(in[0]); };
  CHECK(gradient_error(f, {{3, 8}}) <= gradient_tolerance);
  CHECK(gradient_error(f, {{1, 34}}) <= gradient_tolerance);
}

TEST_CASE("maxout refuses an odd number of columns", "[ops][maxout][error]") {
  DoubleTape tape(DoubleTape::Mode::checked);
  CHECK_THROWS_MATCHES(bahdanau::maxout(tape.zeros({2, 5})), Error,
                       Message("maxout: expected an even number of columns, got [2, 5]"));
}
