// The tape: long ones, several plays, inference, parameters of a model, and what it refuses.
#include <cmath>
#include <cstddef>
#include <vector>

#include <bahdanau/autograd/ops.hpp>
#include <bahdanau/nn/weights.hpp>

#include "support/backends.hpp"
#include "support/catch.hpp"
#include "support/compare.hpp"

using bahdanau::Array;
using bahdanau::Error;
using bahdanau::Parameter;
using bahdanau::ParameterBlock;
using bahdanau::ParameterList;
using bahdanau::Scope;
using bahdanau::test::largest_difference;
using Catch::Matchers::Message;

namespace {

using B = bahdanau::test::TestBackend<double>;
using Tape = bahdanau::Tape<B>;
using V = bahdanau::Variable<B>;
using Numbers = std::vector<double>;

}  // namespace

TEST_CASE("a tape of 100,000 steps is played without overflowing the stack", "[tape]") {
  const std::size_t steps = GENERATE(as<std::size_t>{}, 10'000, 100'000);
  Tape tape;
  const double w = 1 + 1.0 / static_cast<double>(steps);
  const V factor = tape.leaf({1}, Numbers{w}), start = tape.leaf({1}, Numbers{2});
  V y = start;
  for (std::size_t t = 0; t < steps; ++t) y = y * factor;
  CHECK(tape.length() == steps);
  tape.backward(y);
  // y = 2 wⁿ
  const auto n = static_cast<double>(steps);
  CHECK(gradient<1>(start)(0) == Approx(std::pow(w, n)).epsilon(1e-9));
  CHECK(gradient<1>(factor)(0) == Approx(2 * n * std::pow(w, n - 1)).epsilon(1e-9));
}

TEST_CASE("a tape of 100,000 linear maps by one weight gives its gradient", "[tape]") {
  constexpr std::size_t steps = 100'000;
  Tape tape;
  const double w = 1 - 1e-5;
  const V weight = tape.leaf({1, 1}, Numbers{w});
  V y = tape.constant({1, 1}, Numbers{3});
  for (std::size_t t = 0; t < steps; ++t) y = linear(y, weight);
  tape.backward(y);
  CHECK(gradient<2>(weight)(0, 0) == Approx(3 * steps * std::pow(w, steps - 1)).epsilon(1e-9));
}

TEST_CASE("played twice a tape gives the same gradients, not their sum", "[tape]") {
  Tape tape;
  const V x = tape.leaf({2, 2}, Numbers{1, 2, 3, 4}), w = tape.leaf({3, 2}, Numbers{1, 0, 2, -1, 0, 1});
  const V y = sum(tanh(linear(x, w)));
  tape.backward(y);
  const Array<double, 2> dx = gradient<2>(x), dw = gradient<2>(w);
  CHECK(largest_difference(dw, Array<double, 2>::from_shape({3, 2})) > 0.01);
  tape.backward(y);
  CHECK(largest_difference(gradient<2>(x), dx) == 0);
  CHECK(largest_difference(gradient<2>(w), dw) == 0);
}

TEST_CASE("gradients of several results of one tape are kept apart", "[tape]") {
  Tape tape;
  const V x = tape.leaf({2}, Numbers{1, 2});
  const V squares = sum(x * x), triple = 3.0 * sum(x);
  tape.backward(squares);
  CHECK(largest_difference(gradient<1>(x), {2, 4}) == 0);
  tape.backward(triple);
  CHECK(largest_difference(gradient<1>(x), {3, 3}) == 0);
}

TEST_CASE("a tape for inference records nothing and computes the same", "[tape]") {
  Tape recording, inferring(Tape::Mode::infer);
  const auto compute = [](Tape& tape) {
    const V x = tape.leaf({2, 2}, Numbers{1, 2, 3, 4}), w = tape.leaf({2, 2}, Numbers{1, 0, 2, -1});
    return tanh(linear(x, w) * x);
  };
  const V recorded = compute(recording), inferred = compute(inferring);
  CHECK(recording.recording());
  CHECK_FALSE(inferring.recording());
  CHECK(recording.length() == 3);
  CHECK(inferring.length() == 0);
  CHECK_FALSE(inferred.has_gradient());
  CHECK(largest_difference(value<2>(recorded), value<2>(inferred)) == 0);
  CHECK_THROWS_MATCHES(inferring.backward(sum(inferred)), Error,
                       Message("backward: expected a result that depends on a recorded variable, got a "
                               "constant"));
}

TEST_CASE("a constant has no gradient and stops its adjoints", "[tape]") {
  Tape tape;
  const V c = tape.constant({2}, Numbers{1, 2}), x = tape.leaf({2}, Numbers{3, 4});
  tape.backward(sum(c * x));
  CHECK(largest_difference(gradient<1>(x), {1, 2}) == 0);
  CHECK_THROWS_MATCHES(gradient<1>(c), Error,
                       Message("gradient: expected a variable with a gradient, got a constant"));
}

TEST_CASE("parameters are read from the model's weights and add to its gradients", "[tape]") {
  ParameterList list;
  Scope scope(list);
  const Parameter first = scope.matrix("first", 1, 2), second = scope.matrix("second", 1, 2);
  ParameterBlock<B> weights(list), gradients(list);
  weights.write(first, Numbers{1, 2});
  weights.write(second, Numbers{3, 4});
  Tape tape;
  bind(tape, weights, &gradients);
  const V x = tape.constant({1, 2}, Numbers{10, 100});
  const V y = linear(x, tape[first]) * linear(x, tape[second]);  // 210 · 430
  CHECK(value<2>(y)(0, 0) == 210 * 430);
  tape.backward(sum(y));
  CHECK(gradients.read(first) == Numbers{4300, 43000});
  CHECK(gradients.read(second) == Numbers{2100, 21000});
  tape.backward(sum(y));  // as PyTorch does: the caller clears them
  CHECK(gradients.read(first) == Numbers{8600, 86000});
  CHECK(weights.read(first) == Numbers{1, 2});
}

TEST_CASE("parameters without gradients are constants", "[tape]") {
  ParameterList list;
  const Parameter p = Scope(list).matrix("p", 1, 2);
  ParameterBlock<B> weights(list);
  weights.write(p, Numbers{1, 2});
  Tape inferring(Tape::Mode::infer), tape;
  bind(inferring, weights);
  bind(tape, weights);
  CHECK_FALSE(inferring[p].has_gradient());
  CHECK_FALSE(tape[p].has_gradient());
  const V x = tape.leaf({1, 2}, Numbers{5, 6});
  tape.backward(linear(x, tape[p]));
  CHECK(largest_difference(gradient<2>(x), {{1, 2}}) == 0);
}

TEST_CASE("a tape refuses what it cannot do", "[tape][error]") {
  Tape tape;
  const V x = tape.leaf({2, 3}, Numbers{1, 2, 3, 4, 5, 6});
  CHECK_THROWS_MATCHES(tape.backward(x), Error,
                       Message("backward: expected a result of one element, got [2, 3]; sum it first"));
  CHECK_THROWS_MATCHES(tape[Parameter{}], Error,
                       Message("Tape: expected a tape bound to a model's weights, got an unbound one"));
  CHECK_THROWS_MATCHES(tape.leaf({2, 3}, Numbers{1, 2}), Error,
                       Message("Tape: expected numbers for [2, 3]: 6, got 2"));
  CHECK_THROWS_MATCHES(value<1>(x), Error, Message("host copy of [2, 3]: expected rank 2, got 1"));
}
