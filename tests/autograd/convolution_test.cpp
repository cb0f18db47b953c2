// Windows of ragged sequences, and tanh of a sum: by hand, their gradients, and what they refuse.
#include <cstddef>
#include <span>
#include <vector>

#include <bahdanau/autograd/ops.hpp>

#include "support/backends.hpp"
#include "support/catch.hpp"
#include "support/gradient.hpp"

using namespace bahdanau::test;
using bahdanau::Error;
using bahdanau::Index;
using bahdanau::Result;
using bahdanau::SequenceBounds;
using Catch::Matchers::Message;

namespace {

/// Sequences of these lengths, one behind the other.
SequenceBounds bounds(DoubleTape& tape, const std::vector<Index>& lengths) {
  std::vector<Index> begin, end;
  Index first = 0;
  for (const Index n : lengths) {
    begin.insert(begin.end(), static_cast<std::size_t>(n), first);
    end.insert(end.end(), static_cast<std::size_t>(n), first + n);
    first += n;
  }
  return {tape.keep(begin), tape.keep(end)};
}

template <std::size_t Width>
void check_windows() {
  const Function f = [](DoubleTape& tape, Inputs in) {
    return bahdanau::windows<Width>(in[0], bounds(tape, {2, 1, 5}));
  };
  CHECK(gradient_error(f, {{8, 3}}) <= gradient_tolerance);
  CHECK(gradient_error(f, {{8, 19}}) <= gradient_tolerance);
}

}  // namespace

TEST_CASE("windows have zeros beyond a sequence's ends, whatever lies beside it", "[ops][convolution]") {
  DoubleTape tape(DoubleTape::Mode::checked);
  const auto x = tape.leaf({4, 2}, std::vector<double>{1, 10, 2, 20, 3, 30, 4, 40});
  const auto y = bahdanau::windows<3>(x, bounds(tape, {1, 3}));
  CHECK(on_host<Double>(y.value, 24) == std::vector<double>{0, 1, 0, 0,  10, 0,   // alone
                                                            0, 2, 3, 0,  20, 30,  //
                                                            2, 3, 4, 20, 30, 40, 3, 4, 0, 30, 40, 0});
  tape.backward(sum(y));
  const auto dx = bahdanau::gradient<2>(x);  // how many windows have each row
  CHECK(std::vector<double>(dx.begin(), dx.end()) == std::vector<double>{1, 1, 2, 2, 3, 3, 2, 2});
}

TEST_CASE("a product with windows is nn.Conv1d's convolution", "[ops][convolution]") {
  DoubleTape tape(DoubleTape::Mode::checked);
  const auto x = tape.leaf({3, 1}, std::vector<double>{1, 2, 3});
  const auto w = tape.leaf({1, 3}, std::vector<double>{1, 2, 3}),
             b = tape.leaf({1}, std::vector<double>{0.5});
  const auto y = linear(bahdanau::windows<3>(x, bounds(tape, {3})), w, b);
  // 2·1 + 3·2, 1·1 + 2·2 + 3·3, 1·2 + 2·3, and the bias
  CHECK(on_host<Double>(y.value, 3) == std::vector<double>{8.5, 14.5, 8.5});
}

TEST_CASE("windows pass the gradient check", "[ops][convolution][gradient]") {
  check_windows<1>();
  check_windows<3>();
  check_windows<7>();
}

TEST_CASE("tanh_sum passes the gradient check, for a that is given or kept", "[ops][convolution][gradient]") {
  const Function kept = [](DoubleTape&, Inputs in) { return bahdanau::tanh_sum(in[0], in[1]); };
  CHECK(gradient_error(kept, {{3, 5}, {3, 5}}) <= gradient_tolerance);
  // x ← tanh(conv(x) + x), twice, as an encoder has it
  const Function layers = [](DoubleTape& tape, Inputs in) {
    const SequenceBounds sequences = bounds(tape, {1, 4});
    auto x = in[0];
    for (std::size_t l = 0; l < 2; ++l)
      x = bahdanau::tanh_sum(
          linear(bahdanau::windows<3>(x, sequences), in[1 + 2 * l], in[2 + 2 * l], Result::given), x);
    return x;
  };
  CHECK(gradient_error(layers, {{5, 4}, {4, 12}, {4}, {4, 12}, {4}}) <= gradient_tolerance);
}

TEST_CASE("tanh_sum refuses arrays of two shapes", "[ops][convolution][error]") {
  DoubleTape tape(DoubleTape::Mode::checked);
  CHECK_THROWS_MATCHES(bahdanau::tanh_sum(tape.zeros({2, 5}), tape.zeros({5})), Error,
                       Message("tanh_sum: expected two of one shape, and b [2, 5], got [5]"));
}
