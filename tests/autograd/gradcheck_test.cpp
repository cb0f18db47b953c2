// The check of gradients can fail: a wrong adjoint, a missing one, one that is not a number.
// All other gradient tests lean on this.
#include <cmath>
#include <limits>

#include "support/catch.hpp"
#include "support/gradient.hpp"

namespace pointwise = bahdanau::pointwise;
using bahdanau::GradientCheck;
using bahdanau::test::Double;
using bahdanau::test::DoubleTape;
using bahdanau::test::Function;
using bahdanau::test::gradient_error;
using bahdanau::test::gradient_tolerance;
using bahdanau::test::Inputs;

namespace {

/// A derivative that gives a fixed multiple of the right one for y = x².
struct SquareDerivative {
  double factor;
  template <class V>
  V operator()(V x, V, V dy) const {
    return V(2 * factor) * x * dy;
  }
};
struct Square {
  template <class V>
  V operator()(V x) const {
    return x * x;
  }
};

Function square_with(double factor) {
  return [factor](DoubleTape&, Inputs in) { return unary(in[0], Square{}, SquareDerivative{factor}); };
}

}  // namespace

TEST_CASE("a right adjoint passes the check", "[gradcheck]") {
  CHECK(gradient_error(square_with(1), {{3, 4}}) <= gradient_tolerance);
}

TEST_CASE("a wrong adjoint is caught", "[gradcheck]") {
  CHECK(gradient_error(square_with(-1), {{3, 4}}) == Approx(2));
  CHECK(gradient_error(square_with(0), {{3, 4}}) == Approx(1));
  CHECK(gradient_error(square_with(1.00001), {{3, 4}}) == Approx(1e-5).epsilon(0.01));
}

TEST_CASE("an adjoint that is not a number is caught", "[gradcheck]") {
  CHECK_FALSE(gradient_error(square_with(std::numeric_limits<double>::quiet_NaN()), {{3, 4}}) <= 1);
  CHECK_FALSE(gradient_error(square_with(std::numeric_limits<double>::infinity()), {{3, 4}}) <= 1);
}

TEST_CASE("a missing adjoint is caught though another input's is right", "[gradcheck]") {
  const Function forgets_second = [](DoubleTape& tape, Inputs in) {
    return in[0] * tape.borrow(in[1].value, in[1].shape);
  };
  CHECK(gradient_error(forgets_second, {{3, 4}, {3, 4}}) > 0.1);
}

TEST_CASE("an adjoint that is wrong in one element of many is caught", "[gradcheck]") {
  const Function doubled_at_seven = [](DoubleTape& tape, Inputs in) {
    const auto x = in[0];
    const auto y = tape.variable(x.shape);
    for (std::size_t i = 0; i < x.size(); ++i) y.value[i] = 3 * x.value[i];
    tape.record({"triple", {x}, {y}}, [=](bahdanau::Gradients<Double>& d) {
      for (std::size_t i = 0; i < x.size(); ++i) d.to(x)[i] += (i == 7 ? 6 : 3) * d.of(y)[i];
    });
    return y;
  };
  CHECK(gradient_error(doubled_at_seven, {{20}}) > 1e-3);
}

TEST_CASE("a check in which nothing depends on the inputs finds nothing", "[gradcheck]") {
  const Function constant = [](DoubleTape& tape, Inputs in) {
    return tape.borrow(in[0].value, in[0].shape) - tape.borrow(in[0].value, in[0].shape) + 0.0 * in[0];
  };
  const GradientCheck found = bahdanau::check_gradient<Double>(constant, {{3}});
  CHECK(found.largest == 0);
  CHECK(std::isinf(gradient_error(constant, {{3}})));
}
