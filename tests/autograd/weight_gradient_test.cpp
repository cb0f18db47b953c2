// Weight gradients that are added up after all adjoints: the same sums as when each use adds its own.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <bahdanau/autograd/ops.hpp>
#include <bahdanau/core/random.hpp>

#include "support/backends.hpp"
#include "support/catch.hpp"
#include "support/compare.hpp"

using bahdanau::Array;
using bahdanau::Shape;
using bahdanau::test::largest_difference;
using bahdanau::test::OnDevice;

namespace {

using B = bahdanau::test::TestBackend<double>;
using Tape = bahdanau::Tape<B>;
using V = bahdanau::Variable<B>;

std::vector<double> numbers(std::size_t n, std::uint64_t key) {
  std::vector<double> out(n);
  for (std::size_t i = 0; i < n; ++i) out[i] = 0.5 * bahdanau::random::Key{key}.normal(i);
  return out;
}

constexpr std::size_t uses = 50, inputs = 4, outputs = 5;

}  // namespace

TEST_CASE("a weight used fifty times receives the sum of its uses", "[tape][gradient]") {
  Tape shared, separate;
  const V w = shared.leaf({outputs, inputs}, numbers(outputs * inputs, 1));
  const V b = shared.leaf({outputs}, numbers(outputs, 2));
  std::vector<V> ws, bs;
  V total, total_separate;
  for (std::size_t t = 0; t < uses; ++t) {
    const std::size_t rows = 1 + t % 7;  // a ragged batch loses rows as sentences end
    const std::vector<double> x = numbers(rows * inputs, 10 + t);
    const V y = sum(tanh(linear(shared.constant({rows, inputs}, x), w, b)));
    total = t == 0 ? y : total + y;
    ws.push_back(separate.leaf({outputs, inputs}, numbers(outputs * inputs, 1)));
    bs.push_back(separate.leaf({outputs}, numbers(outputs, 2)));
    const V z = sum(tanh(linear(separate.constant({rows, inputs}, x), ws[t], bs[t])));
    total_separate = t == 0 ? z : total_separate + z;
  }
  shared.backward(total);
  separate.backward(total_separate);
  Array<double, 2> dw = gradient<2>(ws[0]);
  Array<double, 1> db = gradient<1>(bs[0]);
  for (std::size_t t = 1; t < uses; ++t) {
    dw += gradient<2>(ws[t]);
    db += gradient<1>(bs[t]);
  }
  CHECK(largest_difference(gradient<2>(w), dw) < 1e-12);
  CHECK(largest_difference(gradient<1>(b), db) < 1e-12);
}

TEST_CASE("a weight's gradient added up at the end is the one added at once", "[tape][gradient]") {
  // 1 · w is computed, so its gradient cannot wait; w itself is an input, and its gradient does.
  Tape later, at_once;
  const auto run = [](Tape& tape, bool computed) {
    const V w = tape.leaf({inputs, inputs}, numbers(inputs * inputs, 1));
    const V used = computed ? 1.0 * w : w;
    V h = tape.constant({3, inputs}, numbers(3 * inputs, 2));
    for (std::size_t t = 0; t < uses; ++t) h = tanh(linear(h, used));
    tape.backward(sum(h));
    return gradient<2>(w);
  };
  const Array<double, 2> at_the_end = run(later, false), each_time = run(at_once, true);
  CHECK(largest_difference(at_the_end, Array<double, 2>(at_the_end.shape(), 0.0)) > 1e-3);
  CHECK(largest_difference(at_the_end, each_time) < 1e-12);
}

TEST_CASE("a weight that meets several biases, or none, keeps them apart", "[tape][gradient]") {
  Tape tape;
  const std::vector<double> ones(6, 1);
  const V x = tape.constant({3, 2}, ones), w = tape.leaf({2, 2}, std::vector<double>(4, 0));
  const V b = tape.leaf({2}, std::vector<double>(2, 0)), c = tape.leaf({2}, std::vector<double>(2, 0));
  const V y = linear(x, w, b) + 2.0 * linear(x, w, c) + 4.0 * linear(x, w) + linear(x, w, b);
  tape.backward(sum(y));
  CHECK(largest_difference(gradient<1>(b), {6, 6}) == 0);
  CHECK(largest_difference(gradient<1>(c), {6, 6}) == 0);
  CHECK(largest_difference(gradient<2>(w), {{24, 24}, {24, 24}}) == 0);
}

TEST_CASE("blocks of a weight's columns receive their own gradients", "[tape][gradient]") {
  Tape tape;
  const V w = tape.leaf({2, 3}, std::vector<double>(6, 0)), b = tape.leaf({2}, std::vector<double>(2, 0));
  const V one = tape.constant({1, 1}, std::vector<double>{1}),
          two = tape.constant({1, 2}, std::vector<double>{2, 3});
  const V y = linear_columns(one, w, b, 0);
  add_linear(y, two, w, 1);
  add_linear(y, one, w, 2);
  tape.backward(sum(y));
  CHECK(largest_difference(gradient<2>(w), {{1, 2, 4}, {1, 2, 4}}) == 0);
  CHECK(largest_difference(gradient<1>(b), {1, 1}) == 0);
}

TEST_CASE("a tape that leaves the sums to others has written nothing yet", "[tape][gradient]") {
  // Parameters: w [2, 3], used in products and directly; b [2], a bias; e [4, 3], of which rows are taken.
  const bahdanau::Parameter w{0, {2, 3}}, b{6, {2}}, e{8, {4, 3}};
  constexpr std::size_t size = 20;
  const OnDevice<B> weights(numbers(size, 1));
  const std::vector<bahdanau::Index> ids = {2, 0, 2};
  const auto run = [&](Tape& tape) {
    V total;
    V x = gather_rows(tape[e], ids);
    for (int step = 0; step < 3; ++step) {
      const V y = sum(tanh(linear(x, tape[w], tape[b])));
      total = step == 0 ? y : total + y;
    }
    return total + sum(tape[w] * tape[w]);
  };
  OnDevice<B> expected(std::vector<double>(size, 0)), shared(expected);
  Tape plain, apart;
  plain.bind(weights.data(), expected.data());
  plain.backward(run(plain));
  for (int pass = 0; pass < 2; ++pass) {
    apart.reset();
    B::fill(shared.data(), size, 0);
    apart.bind(weights.data(), shared.data());
    B::fill(apart.seed(run(apart)), 1, 1);
    apart.play_adjoints();
    CHECK(shared.host() == std::vector<double>(size, 0));
    REQUIRE(apart.sums().added.size() == 1);  // only w is used in another way than by products and rows
    CHECK(apart.sums().added[0].weight == shared.data());
    CHECK(apart.sums().rows.size() == 1);
    apart.sums().add();
    CHECK(largest_difference(shared.host().data(), expected.host().data(), size) < 1e-14);
  }
}
