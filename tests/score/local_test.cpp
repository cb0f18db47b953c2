// Local attention: by hand, at the ends of a sentence, its gradients, and what it refuses.
#include <cmath>
#include <cstddef>
#include <string_view>
#include <vector>

#include <bahdanau/model/attention.hpp>
#include <bahdanau/score/local.hpp>

#include "support/catch.hpp"
#include "support/score.hpp"

using namespace bahdanau::test;
using bahdanau::Additive;
using bahdanau::Array;
using bahdanau::Attention;
using bahdanau::Dot;
using bahdanau::Error;
using bahdanau::General;
using bahdanau::Index;
using bahdanau::Local;
using bahdanau::ScaledDot;
using Catch::Matchers::Message;
using Numbers = std::vector<double>;

TEST_CASE("local attention of one query over five keys is as worked out by hand", "[local]") {
  CHECK(std::string_view(Local<General, 10>::name) == "local(general,10)");
  Attention<Local<Dot, 1>, Double> attention({.query = 1, .key = 1, .hidden = 2});
  const auto& entries = attention.parameters().entries();
  REQUIRE(entries.size() == 2);
  CHECK(entries[0].name == "W_p.weight");
  CHECK(entries[0].parameter.shape == bahdanau::Shape{2, 1});
  CHECK(entries[1].name == "v_p.weight");
  CHECK(entries[1].parameter.shape == bahdanau::Shape{1, 2});
  attention.weights().write(entries[0].parameter, Numbers{0.5, -1});
  attention.weights().write(entries[1].parameter, Numbers{0.75, 0.25});
  const double q = 0.6, k[] = {0.1, -0.7, 0.4, 0.9, 0.3};
  const double z = 0.75 * std::tanh(0.5 * q) + 0.25 * std::tanh(-q), p = 5 / (1 + std::exp(-z));
  REQUIRE((p > 2 && p < 3));  // 2.7 or so: keys 2 and 3 are in reach of 1
  const double first = std::exp(q * k[2]), second = std::exp(q * k[3]);
  const auto gaussian = [&](double i) { return std::exp(-(i - p) * (i - p) / (2 * 0.5 * 0.5)); };
  const Array<double, 3> queries = {{{q}}}, keys = {{{k[0]}, {k[1]}, {k[2]}, {k[3]}, {k[4]}}},
                         values = {{{1}, {2}, {4}, {8}, {16}}};
  const auto result = attention(queries, keys, values, std::vector<Index>{5});
  CHECK(result.weights(0, 0, 2) == Approx(first / (first + second) * gaussian(2)).epsilon(1e-13));
  CHECK(result.weights(0, 0, 3) == Approx(second / (first + second) * gaussian(3)).epsilon(1e-13));
  for (const std::size_t outside : {0U, 1U, 4U}) CHECK(result.weights(0, 0, outside) == 0);  // exactly
  CHECK(result.contexts(0, 0, 0) ==
        Approx(4 * result.weights(0, 0, 2) + 8 * result.weights(0, 0, 3)).epsilon(1e-13));
}

TEST_CASE("a window holds a key wherever its centre is", "[local]") {
  // One, two and five keys; centres at both ends, where n is one beyond the last key, and in the middle.
  const std::vector<Index> begin{0, 0, 0, 1, 1, 1, 3, 3, 3}, length{1, 1, 1, 2, 2, 2, 5, 5, 5};
  const Numbers z{-800, 0, 800, -800, 0, 800, -800, 0, 800};
  DoubleTape tape(DoubleTape::Mode::checked);
  const bahdanau::Spans<Double> spans(tape, begin, length);
  const DoubleVariable scores = tape.leaf({24}, Numbers(24, 0.5)), centres = tape.leaf({9, 1}, z);
  const auto alpha = bahdanau::value<1>(local_softmax(scores, centres, spans.view(), 1));
  const double at_1 = std::exp(-2.0), at_half = std::exp(-0.5);  // the Gaussian with σ = 1/2
  const Numbers expected{1,
                         at_half,
                         at_1,  // n = 1: p = 0, 1/2, 1
                         0.5,
                         0.5 * at_1,
                         0.5 * at_1,
                         0.5,
                         0,
                         at_1,  // n = 2: p = 0, 1, 2
                         0.5,
                         0.5 * at_1,
                         0,
                         0,
                         0,  // n = 5: p = 0
                         0,
                         0,
                         0.5 * at_half,
                         0.5 * at_half,
                         0,  // p = 5/2
                         0,
                         0,
                         0,
                         0,
                         at_1};  // p = 5
  REQUIRE(alpha.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    CHECK(alpha(i) == Approx(expected[i]).margin(1e-15));
  }
}

TEST_CASE("local attention passes the gradient check", "[local][gradient]") {
  const std::vector<Index> begin = {0, 0, 7, 8}, length = {7, 7, 1, 12};
  const Function f = [&](DoubleTape& tape, Inputs in) {
    const bahdanau::Spans<Double> spans(tape, begin, length);
    const DoubleVariable alpha = local_softmax(in[0], in[1], spans.view(), 3);
    return alpha * alpha;  // so that each weight's gradient differs
  };
  CHECK(gradient_error(f, {{27}, {4, 1}}) <= gradient_tolerance);
  CHECK(attention_gradient_error<Local<General, 1>>({.query = 3, .key = 5, .hidden = 4}) <=
        gradient_tolerance);
  CHECK(attention_gradient_error<Local<Additive, 2>>({.query = 3, .key = 2, .hidden = 4}) <=
        gradient_tolerance);
  CHECK(attention_gradient_error<Local<ScaledDot, 1>>({.query = 3, .key = 3, .hidden = 2}) <=
        gradient_tolerance);
}

TEST_CASE("local attention refuses a reach below 1, and other widths", "[local][error]") {
  DoubleTape tape(DoubleTape::Mode::checked);
  const std::vector<Index> begin{0}, length{2};
  const bahdanau::Spans<Double> spans(tape, begin, length);
  const DoubleVariable scores = tape.zeros({2}), one = tape.zeros({1, 1}), two = tape.zeros({2, 1});
  CHECK_THROWS_MATCHES(local_softmax(scores, one, spans.view(), 0.5), Error,
                       Message("local_softmax: expected a reach of at least 1, got 0.5"));
  CHECK_THROWS_MATCHES(local_softmax(scores, two, spans.view(), 1), Error,
                       Message("local_softmax: expected positions, one per query: 1, got 2"));
  CHECK_THROWS_MATCHES(local_softmax(two.row_range(0, 1), one, spans.view(), 1), Error,
                       Message("local_softmax: expected scores, one per pair: 2, got 1"));
  using Missing = Attention<Local<Dot, 2>, Double>;
  CHECK_THROWS_MATCHES(
      Missing({.query = 3, .key = 3}), Error,
      Message("Local: expected a hidden width of at least 1, got 0; W_p is [hidden, query]"));
  CHECK_THROWS_MATCHES(
      Missing({.query = 3, .key = 4, .hidden = 3}), Error,
      Message("Dot: expected keys of width 3, got 4; use General or Additive for queries and "
              "keys of different widths"));
}
