// Coverage: by hand over two steps, the gradients of its operation and through its steps, what it refuses.
#include <cmath>
#include <cstddef>
#include <vector>

#include <bahdanau/model/attend.hpp>
#include <bahdanau/nn/weights.hpp>
#include <bahdanau/score/coverage.hpp>

#include "support/catch.hpp"
#include "support/score.hpp"

using namespace bahdanau::test;
using bahdanau::Additive;
using bahdanau::Coverage;
using bahdanau::Error;
using bahdanau::Index;
using bahdanau::Shape;
using Catch::Matchers::Message;
using Numbers = std::vector<double>;

TEST_CASE("two steps of coverage are as worked out by hand", "[coverage]") {
  using S = Coverage<Additive>;
  bahdanau::ParameterList list;
  const S::Weights w = S::declare(bahdanau::Scope(list), {.query = 1, .key = 1, .hidden = 2});
  REQUIRE(list.entries().size() == 4);
  CHECK(list.entries()[3].name == "w_m.weight");
  CHECK(w.w_m.shape == Shape{2, 1});
  bahdanau::ParameterBlock<Double> weights(list);
  weights.write(w.additive.W_q, Numbers{0.5, -1});
  weights.write(w.additive.W_k, Numbers{1, 0.25});
  weights.write(w.additive.w_v, Numbers{3, -2});
  weights.write(w.w_m, Numbers{-1.5, 0.75});
  DoubleTape tape(bahdanau::detail::numbers(weights));
  const std::vector<Index> begin{0}, length{2};
  const bahdanau::Spans<Double> spans(tape, begin, length);
  const double q = 0.6, k[] = {0.1, -0.3};
  const DoubleVariable query = tape.constant({1, 1}, Numbers{q}),
                       values = tape.constant({2, 1}, Numbers{1, 10});
  const bahdanau::Memory<Double> memory =
      bahdanau::detail::remember<S>(w, tape.constant({2, 1}, Numbers{k[0], k[1]}), values);
  S::State<Double> state = S::start(w, tape, spans.view());
  double m[] = {0, 0};  // the attention so far
  for (int step = 0; step < 2; ++step) {
    const auto attended = S::attend(w, {query, memory, spans.view()}, state);
    double e[2];
    for (std::size_t i = 0; i < 2; ++i)
      e[i] = std::exp(3 * std::tanh(0.5 * q + k[i] - 1.5 * m[i]) -
                      2 * std::tanh(-q + 0.25 * k[i] + 0.75 * m[i]));
    const auto alpha = bahdanau::value<1>(attended.weights), covered = bahdanau::value<1>(state.covered);
    for (std::size_t i = 0; i < 2; ++i) {
      m[i] += e[i] / (e[0] + e[1]);
      CHECK(alpha(i) == Approx(e[i] / (e[0] + e[1])).epsilon(1e-13));
      CHECK(covered(i) == Approx(m[i]).epsilon(1e-13));
    }
    CHECK(bahdanau::value<2>(attended.context)(0, 0) == Approx(alpha(0) + 10 * alpha(1)).epsilon(1e-13));
  }
}

TEST_CASE("scores with coverage pass the gradient check", "[coverage][gradient]") {
  const std::vector<Index> begin = {0, 0, 4, 2}, length = {4, 4, 5, 1};  // 14 pairs; the first two share keys
  for (const std::size_t width : {1U, 3U, 9U}) {
    CAPTURE(width);
    CHECK(gradient_error(
              [&](DoubleTape& tape, Inputs in) {
                const bahdanau::Spans<Double> spans(tape, begin, length);
                return coverage_scores(in[0], in[1], in[2], in[3], in[4], spans.view());
              },
              {{4, width}, {10, width}, {14}, {1, width}, {width, 1}}) <= gradient_tolerance);
    // a query that was given, and rows that meet one another
    CHECK(gradient_error(
              [&](DoubleTape& tape, Inputs in) {
                const bahdanau::Spans<Double> spans(tape, begin, length);
                return coverage_scores(linear(in[0], in[5], bahdanau::Result::given), in[1], in[2], in[3],
                                       in[4], spans.view());
              },
              {{4, 2}, {10, width}, {14}, {1, width}, {width, 1}, {width, 2}}) <= gradient_tolerance);
  }
  CHECK(gradient_error(
            [&](DoubleTape& tape, Inputs in) {
              const std::vector<Index> first = {0, 0, 1, 1}, all = {4, 4, 3, 3};
              const bahdanau::Spans<Double> spans(tape, first, all);
              return coverage_scores(in[0], in[0], in[1], in[2], in[3], spans.view());
            },
            {{4, 5}, {14}, {1, 5}, {5, 1}}) <= gradient_tolerance);
}

TEST_CASE("gradients flow through what was attended to before", "[coverage][gradient]") {
  using S = Coverage<Additive>;
  bahdanau::ParameterList list;
  const S::Weights w = S::declare(bahdanau::Scope(list), {.query = 2, .key = 3, .hidden = 4});
  const std::vector<Index> begin = {0, 0, 3}, length = {3, 3, 2};
  CHECK(gradient_error(
            [&](DoubleTape& tape, Inputs in) {
              tape.bind(in[4]);
              const bahdanau::Spans<Double> spans(tape, begin, length);
              const bahdanau::Memory<Double> memory = bahdanau::detail::remember<S>(w, in[2], in[3]);
              S::State<Double> state = S::start(w, tape, spans.view());
              S::attend(w, {in[0], memory, spans.view()}, state);
              S::attend(w, {in[1], memory, spans.view()}, state);
              return S::attend(w, {in[0], memory, spans.view()}, state).context;
            },
            {{3, 2}, {3, 2}, {5, 3}, {5, 2}, {list.size()}}) <= gradient_tolerance);
}

TEST_CASE("coverage refuses what does not fit", "[coverage][error]") {
  DoubleTape tape(DoubleTape::Mode::checked);
  const std::vector<Index> begin{0}, length{2};
  const bahdanau::Spans<Double> spans(tape, begin, length);
  const DoubleVariable query = tape.zeros({1, 3}), keys = tape.zeros({2, 3}), covered = tape.zeros({2}),
                       w = tape.zeros({1, 3}), wide = tape.zeros({2, 4});
  CHECK_NOTHROW(coverage_scores(query, keys, covered, w, w, spans.view()));
  CHECK_THROWS_MATCHES(coverage_scores(query, wide, covered, w, w, spans.view()), Error,
                       Message("coverage_scores: expected keys of width 3, got 4"));
  CHECK_THROWS_MATCHES(coverage_scores(query, keys, w, w, w, spans.view()), Error,
                       Message("coverage_scores: expected earlier weights, one per pair: 2, got 3"));
  CHECK_THROWS_MATCHES(coverage_scores(query, keys, covered, w, covered, spans.view()), Error,
                       Message("coverage_scores: expected weights of coverage: 3, got 2"));
}
