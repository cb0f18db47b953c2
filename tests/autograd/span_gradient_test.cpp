// The adjoints of what attention is made of: softmax, dropout, scores and sums over spans.
// Spans are ragged, some share keys, and some keys belong to nobody.
#include <cmath>
#include <vector>

#include <bahdanau/score/additive.hpp>

#include "support/catch.hpp"
#include "support/gradient.hpp"

using namespace bahdanau::test;
using bahdanau::DropoutMask;
using bahdanau::Index;
using bahdanau::Spans;
using bahdanau::random::Key;
using V = DoubleVariable;

namespace {

// Four queries over ten keys; the first two and the last share keys; key 9 is never met. 14 pairs.
const std::vector<Index> key_begin = {0, 0, 4, 2}, length = {4, 4, 5, 1};
constexpr std::size_t queries = 4, keys = 10, pairs = 14;

/// f(inputs, spans) on a tape of its own.
double span_error(V (*f)(Inputs, const bahdanau::SpanView<Double>&),
                  const std::vector<bahdanau::Shape>& shapes) {
  return gradient_error(
      [f](DoubleTape& tape, Inputs in) {
        const Spans<Double> spans(tape, key_begin, length);
        return f(in, spans.view());
      },
      shapes);
}

}  // namespace

TEST_CASE("softmax over valid lengths passes the gradient check", "[ops][gradient]") {
  const Function f = [](DoubleTape&, Inputs in) {
    const std::vector<Index> lengths = {1, 9, 4, 11};
    return softmax(in[0], lengths);
  };
  CHECK(gradient_error(f, {{4, 11}}) <= gradient_tolerance);
}

TEST_CASE("softmax over spans passes the gradient check", "[ops][gradient]") {
  CHECK(span_error([](Inputs in, const auto& spans) { return softmax(in[0], spans); }, {{pairs}}) <=
        gradient_tolerance);
}

TEST_CASE("scores of queries and keys pass the gradient check", "[ops][gradient]") {
  for (const std::size_t width : {1U, 3U, 9U}) {
    CAPTURE(width);
    CHECK(span_error([](Inputs in, const auto& spans) { return span_dot(in[0], in[1], spans, 0.3); },
                     {{queries, width}, {keys, width}}) <= gradient_tolerance);
    CHECK(span_error([](Inputs in, const auto& spans) { return additive_scores(in[0], in[1], in[2], spans); },
                     {{queries, width}, {keys, width}, {1, width}}) <= gradient_tolerance);
  }
}

TEST_CASE("scores of rows with one another pass the gradient check", "[ops][gradient]") {
  // A query that is one of its own keys gets both gradients.
  for (const std::size_t width : {1U, 3U, 8U, 9U, 21U}) {
    CAPTURE(width);
    const Function additive = [](DoubleTape& tape, Inputs in) {
      const Spans<Double> spans(tape, std::vector<Index>{0, 1, 0, 2}, std::vector<Index>{2, 3, 4, 2});
      return additive_scores(in[0], in[0], in[1], spans.view());
    };
    CHECK(gradient_error(additive, {{4, width}, {1, width}}) <= gradient_tolerance);
    const Function dot = [](DoubleTape& tape, Inputs in) {
      const Spans<Double> spans(tape, std::vector<Index>{0, 1, 0, 2}, std::vector<Index>{2, 3, 4, 2});
      return span_dot(in[0], in[0], spans.view());
    };
    CHECK(gradient_error(dot, {{4, width}}) <= gradient_tolerance);
  }
}

TEST_CASE("the sum of values by weights passes the gradient check", "[ops][gradient]") {
  CHECK(span_error([](Inputs in, const auto& spans) { return span_sum(in[0], in[1], spans); },
                   {{pairs}, {keys, 5}}) <= gradient_tolerance);
}

TEST_CASE("attention as a whole passes the gradient check", "[ops][gradient]") {
  // keys = values, as in a model
  CHECK(span_error(
            [](Inputs in, const auto& spans) {
              return span_sum(softmax(span_dot(in[0], in[1], spans), spans), in[1], spans);
            },
            {{queries, 3}, {keys, 3}}) <= gradient_tolerance);
}

TEST_CASE("the first queries alone pass the gradient check", "[ops][gradient]") {
  // What is left of a batch when shorter targets have ended.
  const Function f = [](DoubleTape& tape, Inputs in) {
    const Spans<Double> spans(tape, key_begin, length);
    const auto some = spans.prefix(2);
    return span_sum(softmax(span_dot(in[0], in[1], some), some), in[1], some);
  };
  CHECK(gradient_error(f, {{2, 3}, {keys, 3}}) <= gradient_tolerance);
}

TEST_CASE("dropout passes the gradient check", "[ops][gradient]") {
  const Function dense = [](DoubleTape&, Inputs in) {
    return dropout(tanh(in[0]), DropoutMask{0.4, Key{5}});
  };
  CHECK(gradient_error(dense, {{6, 7}}) <= gradient_tolerance);
  CHECK(span_error(
            [](Inputs in, const auto& spans) {
              return dropout(tanh(in[0]), spans, DropoutMask{0.4, Key{5}});
            },
            {{pairs}}) <= gradient_tolerance);
}

TEST_CASE("an input without a gradient does not disturb the others", "[ops][gradient]") {
  // Constants have no room for a gradient; the fused adjoints must find some.
  const Function constant_keys = [](DoubleTape& tape, Inputs in) {
    const Spans<Double> spans(tape, key_begin, length);
    const V fixed = tape.constant({keys, 3}, std::vector<double>(keys * 3, 0.4));
    const V scores =
        additive_scores(in[0], fixed, in[1], spans.view()) + span_dot(in[0], fixed, spans.view());
    return span_sum(softmax(scores, spans.view()), fixed, spans.view()) + in[0];
  };
  CHECK(gradient_error(constant_keys, {{queries, 3}, {1, 3}}) <= gradient_tolerance);
  const Function constant_query = [](DoubleTape& tape, Inputs in) {
    const Spans<Double> spans(tape, key_begin, length);
    const V fixed = tape.constant({queries, 3}, std::vector<double>(queries * 3, 0.4));
    const V w = tape.constant({1, 3}, std::vector<double>{1, -2, 0.5});
    return additive_scores(fixed, in[0], w, spans.view()) + span_dot(fixed, in[0], spans.view());
  };
  CHECK(gradient_error(constant_query, {{keys, 3}}) <= gradient_tolerance);
}
