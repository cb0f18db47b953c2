// The additive score: by hand, its gradients, and what it refuses.
#include <cmath>
#include <cstddef>
#include <vector>

#include <bahdanau/model/attention.hpp>
#include <bahdanau/score/additive.hpp>

#include "support/catch.hpp"
#include "support/score.hpp"

using namespace bahdanau::test;
using bahdanau::Additive;
using bahdanau::Array;
using bahdanau::Attention;
using bahdanau::Error;
using bahdanau::Index;
using Catch::Matchers::Message;
using Numbers = std::vector<double>;

TEST_CASE("the additive score of one query and two keys is as worked out by hand", "[additive]") {
  Attention<Additive, Double> attention({.query = 1, .key = 2, .hidden = 2});
  const auto& entries = attention.parameters().entries();
  REQUIRE(entries.size() == 3);
  CHECK(entries[0].name == "W_q.weight");
  CHECK(entries[1].name == "W_k.weight");
  CHECK(entries[2].name == "w_v.weight");
  attention.weights().write(entries[0].parameter, Numbers{0.5, -1});
  attention.weights().write(entries[1].parameter, Numbers{1, 0, 0.25, 2});
  attention.weights().write(entries[2].parameter, Numbers{3, -2});
  const double q = 0.6;
  const auto score = [&](double a, double b) {
    return 3 * std::tanh(0.5 * q + a) - 2 * std::tanh(-q + 0.25 * a + 2 * b);
  };
  const double first = std::exp(score(0.1, 0.2)), second = std::exp(score(-0.3, 0.4));
  const Array<double, 3> queries = {{{q}}}, keys = {{{0.1, 0.2}, {-0.3, 0.4}}}, values = {{{1}, {10}}};
  const auto result = attention(queries, keys, values, std::vector<Index>{2});
  CHECK(result.weights(0, 0, 0) == Approx(first / (first + second)).epsilon(1e-13));
  CHECK(result.weights(0, 0, 1) == Approx(second / (first + second)).epsilon(1e-13));
  CHECK(result.contexts(0, 0, 0) == Approx((first + 10 * second) / (first + second)).epsilon(1e-13));
}

TEST_CASE("attention with the additive score passes the gradient check", "[additive][gradient]") {
  CHECK(attention_gradient_error<Additive>({.query = 3, .key = 4, .hidden = 2}) <= gradient_tolerance);
  CHECK(attention_gradient_error<Additive>({.query = 2, .key = 2, .hidden = 9}) <= gradient_tolerance);
}

TEST_CASE("the additive score refuses keys and queries of other widths", "[additive][error]") {
  const Attention<Additive, Double> attention({.query = 3, .key = 4, .hidden = 2});
  const auto array = [](std::size_t a, std::size_t b, std::size_t c) {
    return Array<double, 3>({a, b, c}, 0.5);
  };
  const std::vector<Index> valid = {2, 1};
  CHECK_NOTHROW(attention(array(2, 1, 3), array(2, 5, 4), array(2, 5, 7), valid));
  CHECK_THROWS_MATCHES(attention(array(2, 1, 4), array(2, 5, 4), array(2, 5, 7), valid), Error,
                       Message("Attention: expected queries of width 3, got 4"));
  CHECK_THROWS_MATCHES(attention(array(2, 1, 3), array(2, 5, 3), array(2, 5, 7), valid), Error,
                       Message("Attention: expected keys of width 4, got 3"));
}
