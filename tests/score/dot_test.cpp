// Luong's products: by hand, their gradients, and what they refuse.
#include <cmath>
#include <cstddef>
#include <vector>

#include <bahdanau/model/attention.hpp>
#include <bahdanau/score/dot.hpp>

#include "support/catch.hpp"
#include "support/score.hpp"

using namespace bahdanau::test;
using bahdanau::Array;
using bahdanau::Attention;
using bahdanau::Dot;
using bahdanau::Error;
using bahdanau::General;
using bahdanau::Index;
using Catch::Matchers::Message;

TEST_CASE("the dot product of one query and two keys is as worked out by hand", "[dot]") {
  const Attention<Dot, Double> attention({.query = 2, .key = 2});
  CHECK(attention.parameters().entries().empty());
  const Array<double, 3> queries = {{{1, 2}}}, keys = {{{0.5, 1}, {1, -1}}}, values = {{{1, 0}, {0, 1}}};
  const auto result = attention(queries, keys, values, std::vector<Index>{2});
  const double first = std::exp(2.5), second = std::exp(-1.0);
  CHECK(result.weights(0, 0, 0) == Approx(first / (first + second)).epsilon(1e-14));
  CHECK(result.contexts(0, 0, 1) == result.weights(0, 0, 1));
}

TEST_CASE("the general product of one query and two keys is as worked out by hand", "[general]") {
  Attention<General, Double> attention({.query = 2, .key = 3});
  const auto& W = attention.parameters().entries().at(0);
  CHECK(W.name == "W.weight");
  CHECK(W.parameter.shape == bahdanau::Shape{2, 3});
  attention.weights().write(W.parameter, std::vector<double>{1, 0, 2, -1, 0.5, 0});
  // W k = (k0 + 2 k2, -k0 + k1 / 2); qᵀ W k
  const Array<double, 3> queries = {{{1, 2}}}, keys = {{{0.5, 1, 0.25}, {1, -1, 0}}},
                         values = {{{1, 0}, {0, 1}}};
  const auto result = attention(queries, keys, values, std::vector<Index>{2});
  const double first = std::exp(1.0 + 2 * 0.0), second = std::exp(1.0 + 2 * -1.5);
  CHECK(result.weights(0, 0, 0) == Approx(first / (first + second)).epsilon(1e-14));
}

TEST_CASE("attention with Luong's products passes the gradient check", "[dot][general][gradient]") {
  CHECK(attention_gradient_error<Dot>({.query = 3, .key = 3}) <= gradient_tolerance);
  CHECK(attention_gradient_error<General>({.query = 3, .key = 5}) <= gradient_tolerance);
  CHECK(attention_gradient_error<General>({.query = 9, .key = 2}) <= gradient_tolerance);
}

TEST_CASE("the dot product refuses keys that are not as wide as queries", "[dot][error]") {
  using DotAttention = Attention<Dot, Double>;
  CHECK_THROWS_MATCHES(
      DotAttention({.query = 3, .key = 4}), Error,
      Message("Dot: expected keys of width 3, got 4; use General or Additive for queries and "
              "keys of different widths"));
}
