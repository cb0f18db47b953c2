// The scaled dot product: by hand, its gradients, and what it refuses.
#include <cmath>
#include <cstddef>
#include <vector>

#include <bahdanau/model/attention.hpp>
#include <bahdanau/score/scaled_dot.hpp>

#include "support/catch.hpp"
#include "support/score.hpp"

using namespace bahdanau::test;
using bahdanau::Array;
using bahdanau::Attention;
using bahdanau::Error;
using bahdanau::Index;
using bahdanau::ScaledDot;
using Catch::Matchers::Message;

TEST_CASE("the scaled dot product of one query and two keys is as worked out by hand", "[scaled_dot]") {
  const Attention<ScaledDot, Double> attention({.query = 4, .key = 4});
  CHECK(attention.parameters().entries().empty());
  // q·k / √4 = 3 and 1
  const Array<double, 3> queries = {{{1, 2, 0, -1}}}, keys = {{{2, 1, 5, -2}, {1, 1, 7, 1}}},
                         values = {{{1, 0}, {0, 1}}};
  const auto result = attention(queries, keys, values, std::vector<Index>{2});
  const double first = std::exp(3.0), second = std::exp(1.0);
  CHECK(result.weights(0, 0, 0) == Approx(first / (first + second)).epsilon(1e-14));
  CHECK(result.weights(0, 0, 1) == Approx(second / (first + second)).epsilon(1e-14));
  CHECK(result.contexts(0, 0, 0) == result.weights(0, 0, 0));
  CHECK(result.contexts(0, 0, 1) == result.weights(0, 0, 1));
}

TEST_CASE("attention with the scaled dot product passes the gradient check", "[scaled_dot][gradient]") {
  CHECK(attention_gradient_error<ScaledDot>({.query = 3, .key = 3}) <= gradient_tolerance);
  CHECK(attention_gradient_error<ScaledDot>({.query = 9, .key = 9}) <= gradient_tolerance);
}

TEST_CASE("the scaled dot product refuses keys that are not as wide as queries", "[scaled_dot][error]") {
  using ScaledDotAttention = Attention<ScaledDot, Double>;
  CHECK_THROWS_MATCHES(
      ScaledDotAttention({.query = 3, .key = 4}), Error,
      Message("ScaledDot: expected keys of width 3, got 4; use General or Additive for queries and keys "
              "of different widths"));
}
