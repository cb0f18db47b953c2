// Padding never receives attention, whatever stands there, and never sends a number anywhere.
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include <bahdanau/model/attention.hpp>
#include <bahdanau/score/additive.hpp>
#include <bahdanau/score/scaled_dot.hpp>

#include "support/backends.hpp"
#include "support/catch.hpp"
#include "support/compare.hpp"

using bahdanau::Additive;
using bahdanau::Array;
using bahdanau::Attention;
using bahdanau::Error;
using bahdanau::Index;
using bahdanau::ScaledDot;
using bahdanau::test::largest_difference;
using bahdanau::test::TestBackend;
using Catch::Matchers::Message;

namespace {

constexpr std::size_t batch = 3, asked = 2, steps = 5, width = 4;
const std::vector<Index> valid = {5, 1, 3};

template <class T>
Array<T, 3> numbers(std::size_t rows, std::size_t cols, std::uint64_t key) {
  auto out = Array<T, 3>::from_shape({batch, rows, cols});
  for (std::size_t i = 0; i < out.size(); ++i)
    out.data()[i] = static_cast<T>(bahdanau::random::Key{key}.normal(i));
  return out;
}

/// The same array with something else in the padding.
template <class T>
Array<T, 3> with_padding(Array<T, 3> x, T padding) {
  for (std::size_t b = 0; b < batch; ++b)
    for (auto t = static_cast<std::size_t>(valid[b]); t < steps; ++t)
      for (std::size_t c = 0; c < x.shape(2); ++c) x(b, t, c) = padding;
  return x;
}

template <class Score, class Scalar>
struct Case {
  using T = Scalar;
  Attention<Score, TestBackend<T>> attention{{.query = width, .key = width, .hidden = 3}, 7};
};

}  // namespace

TEMPLATE_TEST_CASE("padding never receives attention", "[attention][mask]", (Case<Additive, float>),
                   (Case<Additive, double>), (Case<ScaledDot, float>), (Case<ScaledDot, double>)) {
  using T = typename TestType::T;
  const TestType here;
  const auto queries = numbers<T>(asked, width, 1), keys = numbers<T>(steps, width, 2),
             values = numbers<T>(steps, 2, 3);
  const auto result = here.attention(queries, keys, values, valid);
  for (std::size_t b = 0; b < batch; ++b)
    for (std::size_t q = 0; q < asked; ++q) {
      T total = 0;
      for (std::size_t t = 0; t < steps; ++t) {
        const T weight = result.weights(b, q, t);
        total += weight;
        if (t < static_cast<std::size_t>(valid[b]))
          CHECK(weight > 0);
        else
          CHECK(weight == 0);  // exactly
      }
      CHECK(total == Approx(1).epsilon(1e-6));
    }
  CHECK(result.weights(1, 0, 0) == 1);
  // Nothing that stands in the padding is ever read.
  for (const T padding : {T(0), T(1e30), std::numeric_limits<T>::quiet_NaN()}) {
    const auto other =
        here.attention(queries, with_padding(keys, padding), with_padding(values, padding), valid);
    CHECK(largest_difference(other.weights, result.weights) == 0);
    CHECK(largest_difference(other.contexts, result.contexts) == 0);
  }
}

TEMPLATE_TEST_CASE("padding sends no gradient", "[attention][mask]", Additive, ScaledDot) {
  using B = TestBackend<double>;
  bahdanau::ParameterList list;
  const auto w = TestType::declare(bahdanau::Scope(list), {.query = width, .key = width, .hidden = 3});
  bahdanau::ParameterBlock<B> weights(list), gradients(list);
  weights.initialize(list, 7);
  bahdanau::Tape<B> tape(bahdanau::Tape<B>::Mode::checked);
  bind(tape, weights, &gradients);
  // One sentence of five keys, of which three count.
  std::vector<double> numbers_of_keys(steps * width, 0.3);
  numbers_of_keys[1] = 2;
  const auto keys = tape.leaf({steps, width}, numbers_of_keys);
  const auto query = tape.leaf({1, width}, std::vector<double>{1, -1, 0.5, 0.2});
  const std::vector<Index> begin = {0}, length = {3};
  const bahdanau::Spans<B> spans(tape, begin, length);
  const auto alpha =
      softmax(TestType::scores(w, query, TestType::prepare(w, keys), spans.view()), spans.view());
  tape.backward(sum(span_sum(alpha * alpha, keys, spans.view())));
  const Array<double, 2> dk = gradient<2>(keys);
  for (std::size_t t = 0; t < steps; ++t) {
    double size = 0;
    for (std::size_t c = 0; c < width; ++c) size += std::abs(dk(t, c));
    CAPTURE(t);
    if (t < 3)
      CHECK(size > 1e-3);
    else
      CHECK(size == 0);
  }
}

TEST_CASE("attention refuses lengths and batches that do not fit", "[attention][error]") {
  const Attention<ScaledDot, TestBackend<double>> attention({.query = width, .key = width});
  const auto queries = numbers<double>(asked, width, 1), keys = numbers<double>(steps, width, 2);
  using Lengths = std::vector<Index>;
  CHECK_THROWS_MATCHES(attention(queries, keys, keys, Lengths{5, 0, 3}), Error,
                       Message("Attention, sentence 1: expected a valid length from 1 to 5, got 0"));
  CHECK_THROWS_MATCHES(attention(queries, keys, keys, Lengths{5, 1, 6}), Error,
                       Message("Attention, sentence 2: expected a valid length from 1 to 5, got 6"));
  CHECK_THROWS_MATCHES(attention(queries, keys, keys, Lengths{-1, 1, 5}), Error,
                       Message("Attention, sentence 0: expected a valid length from 1 to 5, got -1"));
  CHECK_THROWS_MATCHES(attention(queries, keys, keys, Lengths{5, 1}), Error,
                       Message("Attention: expected valid lengths, one per sentence: 3, got 2"));
  const Array<double, 3> fewer({2, steps, width}, 0.0), shorter({batch, 4, width}, 0.0);
  CHECK_THROWS_MATCHES(attention(queries, fewer, fewer, valid), Error,
                       Message("Attention: expected keys for sentences: 3, got 2"));
  CHECK_THROWS_MATCHES(attention(queries, keys, fewer, valid), Error,
                       Message("Attention: expected values for sentences: 3, got 2"));
  CHECK_THROWS_MATCHES(attention(queries, keys, shorter, valid), Error,
                       Message("Attention: expected values, one per key: 5, got 4"));
}
