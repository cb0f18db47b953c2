// Attention of several heads: by hand, against heads that are computed one by one, gradients, masks, and
// what it refuses.
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <bahdanau/model/attention.hpp>
#include <bahdanau/score/multi_head.hpp>

#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/score.hpp"

using namespace bahdanau::test;
using bahdanau::Array;
using bahdanau::Attention;
using bahdanau::Error;
using bahdanau::Index;
using bahdanau::MultiHead;
using bahdanau::ScaledDot;
using bahdanau::Shape;
using Catch::Matchers::Message;
using Numbers = std::vector<double>;

namespace {

// Three queries over five keys, of which the first two share three.
const std::vector<Index> begin = {0, 0, 3}, length = {3, 3, 2};
constexpr std::size_t pairs = 8;

Numbers drawn(std::size_t count, std::uint64_t key) {
  Numbers out(count);
  for (std::size_t i = 0; i < count; ++i) out[i] = bahdanau::random::Key{key}.normal(i);
  return out;
}

}  // namespace

TEST_CASE("two heads over two keys are as worked out by hand", "[multi_head]") {
  CHECK(std::string_view(MultiHead<ScaledDot, 4>::name) == "multi_head(scaled_dot,4)");
  Attention<MultiHead<ScaledDot, 2>, Double> attention({.query = 2, .key = 2, .hidden = 2, .value = 2});
  const auto& entries = attention.parameters().entries();
  REQUIRE(entries.size() == 4);
  CHECK(entries[0].name == "in_proj_weight");
  CHECK(entries[0].parameter.shape == Shape{6, 2});
  CHECK(entries[1].name == "in_proj_bias");
  CHECK(entries[2].name == "out_proj.weight");
  CHECK(entries[3].name == "out_proj.bias");
  // W_q, W_k, W_v, of two rows each, one for each head
  attention.weights().write(entries[0].parameter, Numbers{1, 0.5, -1, 2, 0.5, 1, 1, -1, 2, 0, 0, 3});
  attention.weights().write(entries[1].parameter, Numbers{0.25, -0.5, 7, 8, 0.1, 0.2});
  attention.weights().write(entries[2].parameter, Numbers{1, 2, 3, 4});
  attention.weights().write(entries[3].parameter, Numbers{0.5, -0.5});
  const double x = 0.6, y = -0.2, k[2][2] = {{0.1, 0.4}, {-0.3, 0.2}};
  const double q[] = {x + 0.5 * y + 0.25, -x + 2 * y - 0.5};  // heads of one column, so √d = 1
  double weight[2][2], head[2];
  for (std::size_t h = 0; h < 2; ++h) {
    double e[2], v[2];
    for (std::size_t i = 0; i < 2; ++i) {
      // b_k makes no difference, and is added here
      e[i] = std::exp(q[h] * (h == 0 ? 0.5 * k[i][0] + k[i][1] + 7 : k[i][0] - k[i][1] + 8));
      v[i] = h == 0 ? 2 * k[i][0] + 0.1 : 3 * k[i][1] + 0.2;
    }
    for (std::size_t i = 0; i < 2; ++i) weight[h][i] = e[i] / (e[0] + e[1]);
    head[h] = weight[h][0] * v[0] + weight[h][1] * v[1];
  }
  const Array<double, 3> queries = {{{x, y}}}, keys = {{{k[0][0], k[0][1]}, {k[1][0], k[1][1]}}};
  const auto result = attention(queries, keys, keys, std::vector<Index>{2});
  for (std::size_t i = 0; i < 2; ++i)
    CHECK(result.weights(0, 0, i) == Approx((weight[0][i] + weight[1][i]) / 2).epsilon(1e-13));
  CHECK(result.contexts(0, 0, 0) == Approx(head[0] + 2 * head[1] + 0.5).epsilon(1e-13));
  CHECK(result.contexts(0, 0, 1) == Approx(3 * head[0] + 4 * head[1] - 0.5).epsilon(1e-13));
}

TEST_CASE("heads are what each would be alone, with a mask of its own", "[multi_head][dropout]") {
  constexpr std::size_t heads = 3, width = 2;
  DoubleTape tape(DoubleTape::Mode::checked);
  const bahdanau::Spans<Double> spans(tape, begin, length);
  const DoubleVariable query = tape.leaf({3, heads * width}, drawn(3 * heads * width, 1)),
                       keys = tape.leaf({5, heads * width}, drawn(5 * heads * width, 2));
  const bahdanau::DropoutMask mask{0.4, bahdanau::random::Key{5}};
  const std::vector<Index> names{9, 4, 6};
  const Index* rows = tape.keep(names);
  const DoubleVariable alpha = head_softmax(head_dot(query, keys, spans.view(), heads, 0.7), spans.view()),
                       dropped = head_dropout(alpha, spans.view(), mask, rows);
  const auto context = bahdanau::value<2>(head_sum(dropped, keys, spans.view()));
  const auto mean = bahdanau::value<1>(head_mean(alpha, spans.view()));
  Numbers means(pairs, 0);
  for (std::size_t h = 0; h < heads; ++h) {
    const DoubleVariable own_keys = slice_columns(keys, h * width, width);
    const DoubleVariable own =
        softmax(span_dot(slice_columns(query, h * width, width), own_keys, spans.view(), 0.7), spans.view());
    const bahdanau::AttentionStep<Double> step{query, {keys, keys}, spans.view(), mask, rows};
    const auto expected = bahdanau::value<2>(span_sum(step.drop(own, h), own_keys, spans.view()));
    for (std::size_t r = 0; r < 3; ++r)
      for (std::size_t c = 0; c < width; ++c)
        CHECK(context(r, h * width + c) == Approx(expected(r, c)).epsilon(1e-14));
    const auto one = bahdanau::value<1>(own);
    for (std::size_t i = 0; i < pairs; ++i) means[i] += one(i) / heads;
  }
  for (std::size_t i = 0; i < pairs; ++i) CHECK(mean(i) == Approx(means[i]).epsilon(1e-14));
}

TEST_CASE("operations of heads pass the gradient check", "[multi_head][gradient]") {
  const auto error = [](auto f, const std::vector<Shape>& shapes) {
    return gradient_error(
        [f](DoubleTape& tape, Inputs in) {
          const bahdanau::Spans<Double> spans(tape, begin, length);
          return f(in, spans.view());
        },
        shapes);
  };
  for (const std::size_t heads : {1U, 3U})
    for (const std::size_t width : {1U, 9U}) {
      CAPTURE(heads, width);
      const std::size_t cols = heads * width;
      CHECK(error([=](Inputs in, const auto& spans) { return head_dot(in[0], in[1], spans, heads, 0.3); },
                  {{3, cols}, {5, cols}}) <= gradient_tolerance);
      CHECK(error([](Inputs in, const auto& spans) { return head_sum(in[0], in[1], spans); },
                  {{pairs, heads}, {5, cols}}) <= gradient_tolerance);
      CHECK(error([](Inputs in, const auto& spans) { return head_softmax(in[0], spans); },
                  {{pairs, heads}}) <= gradient_tolerance);
      CHECK(error([](Inputs in, const auto& spans) { return head_mean(in[0], spans); }, {{pairs, heads}}) <=
            gradient_tolerance);
      CHECK(error(
                [](Inputs in, const auto& spans) {
                  return head_dropout(in[0], spans, {0.3, bahdanau::random::Key{2}});
                },
                {{pairs, heads}}) <= gradient_tolerance);
    }
}

TEST_CASE("attention of several heads passes the gradient check", "[multi_head][gradient]") {
  CHECK(attention_gradient_error<MultiHead<ScaledDot, 2>>({.query = 4, .key = 4, .hidden = 4, .value = 4}) <=
        gradient_tolerance);
  CHECK(attention_gradient_error<MultiHead<ScaledDot, 3>>({.query = 6, .key = 5, .hidden = 6, .value = 2}) <=
        gradient_tolerance);
}

TEST_CASE("keys or values of another width have projections of their own", "[multi_head]") {
  bahdanau::ParameterList list;
  MultiHead<ScaledDot, 2>::declare(bahdanau::Scope(list), {.query = 4, .key = 8, .hidden = 4, .value = 4});
  const std::vector<std::string> names{"q_proj_weight", "k_proj_weight",   "v_proj_weight",
                                       "in_proj_bias",  "out_proj.weight", "out_proj.bias"};
  REQUIRE(list.entries().size() == names.size());
  for (std::size_t i = 0; i < names.size(); ++i) CHECK(list.entries()[i].name == names[i]);
  CHECK(list.entries()[1].parameter.shape == Shape{4, 8});
  CHECK(list.entries()[2].parameter.shape == Shape{4, 4});
}

TEST_CASE("heads must divide the hidden width, and operations what they are given", "[multi_head][error]") {
  using Wrong = Attention<MultiHead<ScaledDot, 4>, Double>;
  CHECK_THROWS_MATCHES(Wrong({.query = 6, .key = 6, .hidden = 6, .value = 6}), Error,
                       Message("MultiHead: expected a hidden width that 4 heads divide, got 6"));
  CHECK_THROWS_MATCHES(Wrong({.query = 6, .key = 6, .hidden = 8, .value = 6}), Error,
                       Message("MultiHead: expected queries of width 8, got 6"));
  DoubleTape tape(DoubleTape::Mode::checked);
  const bahdanau::Spans<Double> spans(tape, begin, length);
  const DoubleVariable query = tape.zeros({3, 4}), keys = tape.zeros({5, 4}), weight = tape.zeros({pairs, 2});
  CHECK_THROWS_MATCHES(head_dot(query, keys, spans.view(), 3), Error,
                       Message("head_dot: expected a width that 3 heads divide, got [3, 4]"));
  CHECK_THROWS_MATCHES(head_sum(weight.row_range(0, 7), keys, spans.view()), Error,
                       Message("head_sum: expected weights [8, 2], got [7, 2]"));
  CHECK_THROWS_MATCHES(head_mean(weight.reshape({2, pairs}), spans.view()), Error,
                       Message("head_mean: expected weights [8, 8], got [2, 8]"));
}
