// Loops on a tape: where the arrays of steps lie, what becomes of gradients, and that nothing else changes.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include <bahdanau/autograd/loop.hpp>
#include <bahdanau/autograd/ops.hpp>
#include <bahdanau/cell/gru.hpp>
#include <bahdanau/cell/lstm.hpp>
#include <bahdanau/cell/recurrent_layer.hpp>
#include <bahdanau/core/random.hpp>

#include "support/backends.hpp"
#include "support/catch.hpp"
#include "support/cell.hpp"
#include "support/compare.hpp"
#include "support/message.hpp"

using namespace bahdanau::test;
using bahdanau::Array;
using bahdanau::CellState;
using bahdanau::Gradients;
using bahdanau::Index;
using bahdanau::Loop;
using bahdanau::Packing;
using bahdanau::Parameter;
using bahdanau::Shape;

namespace {

using B = TestBackend<double>;
using Tape = bahdanau::Tape<B>;
using V = bahdanau::Variable<B>;

std::vector<double> normal(std::size_t n, std::uint64_t key) {
  std::vector<double> out(n);
  for (std::size_t i = 0; i < n; ++i) out[i] = 0.5 * bahdanau::random::Key{key}.normal(i);
  return out;
}

/// A stranger's cell, put together from operations: h' = tanh(x + W h), and no word about loops.
struct Plain {
  static constexpr std::string_view name = "plain";
  static constexpr std::size_t parts = 1;
  static constexpr std::array<std::string_view, parts> part_names{"h"};
  using Weights = bahdanau::RecurrentWeights;
  static Weights declare(bahdanau::Scope scope, std::size_t inputs, std::size_t hidden) {
    return Weights::declare(scope, 1, inputs, hidden);
  }
  template <bahdanau::Backend Any>
  static CellState<Plain, Any> step(const Weights& w, const bahdanau::Variable<Any>& projected,
                                    const CellState<Plain, Any>& state) {
    auto& tape = *projected.tape;
    return {tanh(projected + linear(state[0], tape[w.weight_hh], tape[w.bias_hh]))};
  }
};
static_assert(bahdanau::Cell<Plain>);

const std::vector<std::size_t> equal_rows = {3, 3, 3}, ragged_rows = {4, 3, 3, 1};

/// Runs a layer of one cell, and returns the tape's weight gradients by their number of rows.
template <class C>
std::vector<std::size_t> products_of_layer(const std::vector<Index>& lengths, bool& listed) {
  BoundCell<C, B> cell(2, 3);
  Packing packing;
  packing.assign(lengths);
  std::vector<Index> host;
  const auto lists = bahdanau::PackingLists::stage(cell.tape, packing, host);
  cell.tape.send();
  const V x = cell.tape.leaf({packing.tokens(), 2}, normal(2 * packing.tokens(), 1));
  const auto layer = bahdanau::run_layer<C, B>(cell.w, 3, x, packing, lists);
  cell.tape.backward(sum(layer.outputs) + sum(layer.last[0]));
  std::vector<std::size_t> rows;
  listed = false;
  for (const auto& product : cell.tape.sums().products) {
    rows.push_back(product.rows);
    listed = listed || product.x_row != nullptr;
  }
  return rows;
}

}  // namespace

TEMPLATE_TEST_CASE("each weight's gradient is one product over all steps, in a stranger's cell too",
                   "[loop][gradient]", bahdanau::Gru, bahdanau::Lstm, Plain) {
  // W_ih once, before the loop; W_hh once, or in two parts.
  const std::size_t expected = std::is_same_v<TestType, bahdanau::Gru> ? 3 : 2;
  bool listed = false;
  CHECK(products_of_layer<TestType>({4, 4, 4}, listed) == std::vector<std::size_t>(expected, 12));
  CHECK_FALSE(listed);  // the states before all steps lie together
  CHECK(products_of_layer<TestType>({4, 1, 3}, listed) == std::vector<std::size_t>(expected, 8));
  CHECK(listed);
}

TEMPLATE_TEST_CASE("so it is where two cells in a row share a state", "[loop][gradient]", bahdanau::Gru,
                   bahdanau::Lstm, Plain) {
  using C = TestType;
  for (const auto& rows : {equal_rows, ragged_rows}) {
    BoundCell<C, B> cell(2, 3);
    std::size_t tokens = 0;
    for (const std::size_t n : rows) tokens += n;
    const V x = cell.tape.leaf({tokens, 2}, normal(2 * tokens, 1));
    const V first = cell.project(x), second = cell.project(x);
    Loop<B> loop(cell.tape, rows);
    CellState<C, B> state;
    for (V& part : state) part = loop.carry_zeros(3);
    for (std::size_t t = 0, begin = 0; t < rows.size(); begin += rows[t++]) {
      loop.step();
      for (V& part : state) part = part.row_range(0, rows[t]);
      const CellState<C, B> before = state;
      {
        const bahdanau::InnerStep<B> inner(cell.tape);
        state = C::step(cell.w, first.row_range(begin, rows[t]), state);
      }
      state = C::step(cell.w, second.row_range(begin, rows[t]), state);
      for (std::size_t p = 0; p < C::parts; ++p) {
        const V after = loop.carry_on(p, state[p]);
        if (!std::is_same_v<C, Plain>) CHECK(after.value == state[p].value);  // nothing was copied
        CHECK(after.value == before[p].value + (t == 0 ? rows[0] : rows[t - 1]) * 3);
        state[p] = after;
      }
    }
    cell.tape.backward(sum(loop.all(0)));
    // W_ih twice, before the loop; W_hh of each cell once, or in two parts
    const std::size_t expected = std::is_same_v<C, bahdanau::Gru> ? 6 : 4;
    std::vector<std::size_t> products;
    for (const auto& product : cell.tape.sums().products) products.push_back(product.rows);
    CHECK(products == std::vector<std::size_t>(expected, tokens));
  }
}

TEST_CASE("what each step makes lies behind what the step before has made", "[loop][memory]") {
  for (const auto& rows : {equal_rows, ragged_rows}) {
    Tape tape;
    std::vector<std::size_t> pairs;
    for (const std::size_t n : rows) pairs.push_back(2 * n);
    Loop<B> loop(tape, rows, pairs);
    V h = loop.carry(tape.leaf({rows[0], 2}, normal(2 * rows[0], 1)));
    std::array<const double*, 3> next{};
    for (std::size_t t = 0; t < rows.size(); ++t) {
      loop.step();
      const V wide = tape.variable({rows[t], 5}), scores = tape.variable({pairs[t]});
      const V after = tape.following(h.row_range(0, rows[t]));
      if (t > 0) CHECK((next == std::array<const double*, 3>{wide.value, scores.value, after.value}));
      next = {wide.value + wide.size(), scores.value + scores.size(), after.value + after.size()};
      CHECK(loop.carry_on(0, after).value == after.value);
      h = after;
    }
    const V all = loop.all(0);
    CHECK(all.value + all.size() == next[2]);
  }
}

TEST_CASE("a step that makes other arrays than the first one is right all the same", "[loop][gradient]") {
  // What is made in which order differs from step to step; the results do not depend on there being a loop.
  const auto run = [](Tape& tape, const std::vector<std::size_t>& rows, bool with_loop, const V& w,
                      const V& u, const V& first) {
    std::vector<V> outputs;
    const auto step = [&](const V& h, std::size_t t) {
      V y = linear(h, w);
      if (t % 2 == 1) y = y + 0.5 * tanh(linear(h, u));                    // more arrays
      if (t == 2) y = y * sigmoid(sum_columns(y).reshape({h.rows(), 1}));  // of another kind
      return tanh(y);
    };
    if (with_loop) {
      Loop<B> loop(tape, rows);
      V h = loop.carry(first);
      for (std::size_t t = 0; t < rows.size(); ++t) {
        loop.step();
        h = loop.carry_on(0, step(h.row_range(0, rows[t]), t));
      }
      return sum(loop.all(0) * loop.all(0));
    }
    V h = first;
    for (std::size_t t = 0; t < rows.size(); ++t) outputs.push_back(h = step(h.row_range(0, rows[t]), t));
    const V all = bahdanau::concat_rows<B>(outputs);
    return sum(all * all);
  };
  for (const auto& rows : {equal_rows, ragged_rows, std::vector<std::size_t>{1}}) {
    std::array<std::array<Array<double, 2>, 3>, 2> gradients;
    for (const bool with_loop : {false, true}) {
      Tape tape(Tape::Mode::checked);
      const V w = tape.leaf({3, 3}, normal(9, 1)), u = tape.leaf({3, 3}, normal(9, 2)),
              first = tape.leaf({rows[0], 3}, normal(3 * rows[0], 3));
      tape.backward(run(tape, rows, with_loop, w, u, first));
      gradients[with_loop ? 1 : 0] = {gradient<2>(w), gradient<2>(u), gradient<2>(first)};
    }
    for (std::size_t i = 0; i < 3; ++i) CHECK(largest_difference(gradients[0][i], gradients[1][i]) < 1e-13);
  }
}

TEST_CASE("an array that a later step reads keeps its gradient", "[loop][gradient]") {
  // h_t = tanh(W h_{t-1}) + 0.3 (what step t - 2 has made on the way)
  const auto run = [](Tape& tape, bool with_loop, const V& w, const V& first) {
    constexpr std::size_t steps = 6;
    const std::vector<std::size_t> rows(steps, 2);
    std::vector<V> made;
    V h = first;
    std::unique_ptr<Loop<B>> loop;
    if (with_loop) {
      loop = std::make_unique<Loop<B>>(tape, rows);
      h = loop->carry(first);
    }
    for (std::size_t t = 0; t < steps; ++t) {
      if (loop) loop->step();
      made.push_back(tanh(linear(h, w)));
      const V next = t >= 2 ? made[t] + 0.3 * made[t - 2] : made[t] + 0.3 * made[t];
      h = loop ? loop->carry_on(0, next) : next;
    }
    if (loop) loop->end();
    return sum(h * h);
  };
  std::array<Array<double, 2>, 2> dw;
  for (const bool with_loop : {false, true}) {
    Tape tape(Tape::Mode::checked);
    const V w = tape.leaf({2, 2}, normal(4, 1)), first = tape.leaf({2, 2}, normal(4, 2));
    tape.backward(run(tape, with_loop, w, first));
    dw[with_loop ? 1 : 0] = gradient<2>(w);
  }
  CHECK(largest_difference(dw[0], dw[1]) < 1e-14);
}

TEST_CASE("gradients that only their step reads share one step's memory", "[loop][memory]") {
  Tape tape;
  const std::vector<std::size_t> rows(20, 3);
  std::set<const double*> inside, lasting;
  const V w = tape.leaf({2, 2}, normal(4, 1));
  // y = x, and a look at where dy lies
  const auto watched = [&](const V& x, std::set<const double*>& places) {
    const V y = tape.variable(x.shape);
    B::copy(x.value, x.size(), y.value);
    tape.record({"watched", {x}, {y}}, [=, &places](Gradients<B>& d) {
      places.insert(d.of(y));
      bahdanau::detail::add_elements<B>(x.size(), d.of(y), d.to(x));
    });
    return y;
  };
  Loop<B> loop(tape, rows);
  V h = loop.carry(tape.leaf({3, 2}, normal(6, 2)));
  for (std::size_t t = 0; t < rows.size(); ++t) {
    loop.step();
    // dy of the second one is read by W's gradient as well, which comes after all steps
    const V y = tape.variable({3, 2});
    bahdanau::detail::multiply_rows<B>(watched(h, inside), w, 0, {}, y.value);
    const V x = h;
    tape.record({"product", {x, w}, {y}, {x, w}}, [=, &lasting](Gradients<B>& d) {
      lasting.insert(d.of(y));
      bahdanau::detail::add_to_input<B>(d, {d.of(y), 3, 2}, x, w, 0);
    });
    tape.add_weight({w, {}, x, y, 2, 2});
    h = loop.carry_on(0, tanh(y));
  }
  tape.backward(sum(loop.all(0)));
  CHECK(inside.size() == 1);
  CHECK(lasting.size() == rows.size());
  CHECK(tape.sums().products.size() == 1);
}

TEST_CASE("a loop that is not recorded computes the same", "[loop]") {
  const auto run = [](Tape& tape) {
    const V w = tape.leaf({3, 3}, normal(9, 1));
    Loop<B> loop(tape, ragged_rows);
    V h = loop.carry(tape.leaf({4, 3}, normal(12, 2)));
    for (const std::size_t rows : ragged_rows) {
      loop.step();
      h = loop.carry_on(0, tanh(linear(h.row_range(0, rows), w)));
    }
    return value<2>(loop.all(0));
  };
  Tape recording, inferring(Tape::Mode::infer);
  CHECK((run(recording) == run(inferring)));
}

TEST_CASE("a loop is what it says it is", "[loop][error]") {
  Tape tape;
  const V first = tape.leaf({3, 2}, normal(6, 1));
  const std::vector<std::size_t> rows = {3, 2};
  Loop<B> loop(tape, rows);
  CHECK(message_of([&] { Loop<B>(tape, rows); }) ==
        "Loop: expected a tape that is not in a loop, got a loop inside of another");
  CHECK(message_of([&] { loop.carry(first.row_range(0, 2)); }) ==
        "Loop::carry: expected a first state with rows: 3, got 2");
  const V h = loop.carry(first);
  loop.step();
  CHECK(message_of([&] { loop.carry(first); }) ==
        "Loop::carry: expected states before the first step, got one later");
  CHECK(message_of([&] { loop.carry_on(0, tanh(h.row_range(0, 2))); }) ==
        "Loop::carry_on: expected a state [3, 2], got [2, 2]");
  const V inside = tanh(h);
  loop.carry_on(0, inside);
  loop.step();
  loop.carry_on(0, tanh(h.row_range(0, 2)));
  CHECK(message_of([&] { loop.step(); }) == "Loop::step: expected at most 2 steps, got one more");
  tape.backward(sum(loop.all(0)));
  CHECK(
      message_of([&] { gradient<2>(inside); }) ==
      "gradient: expected a variable whose gradient is kept, got one of a step of a loop; read it outside of "
      "the loop, or ask for that of something outside");
}

TEST_CASE("two cells one after the other in a step are right, whatever they put where", "[loop][gradient]") {
  // s' = Gru(x, s), s = Gru(y, s'): the first result takes the place of the second, which is then found
  // apart.
  BoundCell<bahdanau::Gru, B> cell(2, 3);
  const std::vector<std::size_t> rows = ragged_rows;
  const auto run = [&](bool with_loop) {
    Tape tape(Tape::Mode::checked);
    bahdanau::ParameterBlock<B> gradients(cell.list);
    bind(tape, cell.weights, &gradients);
    const V first = tape.leaf({rows[0], 3}, normal(3 * rows[0], 3)),
            x = tape.leaf({rows[0], 2}, normal(2 * rows[0], 4));
    std::vector<V> outputs;
    const auto step = [&](const V& h, std::size_t n) {
      const auto project = [&] {
        return linear(x.row_range(0, n), tape[cell.w.weight_ih], tape[cell.w.bias_ih],
                      bahdanau::Result::given);
      };
      return bahdanau::Gru::step<B>(cell.w, project(), bahdanau::Gru::step<B>(cell.w, project(), {h}))[0];
    };
    V all;
    if (with_loop) {
      Loop<B> loop(tape, rows);
      V h = loop.carry(first);
      for (const std::size_t n : rows) {
        loop.step();
        h = loop.carry_on(0, step(h.row_range(0, n), n));
      }
      all = loop.all(0);
    } else {
      V h = first;
      for (const std::size_t n : rows) outputs.push_back(h = step(h.row_range(0, n), n));
      all = bahdanau::concat_rows<B>(outputs);
    }
    tape.backward(sum(all * all));
    return std::pair(gradients.read(), gradient<2>(first));
  };
  const auto [weights, first] = run(true);
  const auto [weights_without, first_without] = run(false);
  CHECK(largest_difference(weights, weights_without) < 1e-13);
  CHECK(largest_difference(first, first_without) < 1e-13);
}

TEST_CASE("only the first array that follows a state lies behind it", "[loop][memory]") {
  Tape tape;
  Loop<B> loop(tape, equal_rows);
  const V h = loop.carry(tape.leaf({3, 2}, normal(6, 1)));
  loop.step();
  const V one = tape.following(h), two = tape.following(h), few = tape.following(h.row_range(0, 2));
  CHECK(one.value == h.value + h.size());
  CHECK((two.value >= one.value + one.size() || two.value + two.size() <= one.value));
  CHECK(few.shape == Shape{2, 2});
  CHECK(message_of([&] { loop.all(0); }) ==
        "Loop::all: expected a state after each of the 3 steps, got none after step 0; call step() and "
        "carry_on() "
        "for each");
}

TEST_CASE("a gradient that comes from outside of a loop to one of its steps is not lost",
          "[loop][gradient]") {
  Tape tape;
  const V x = tape.leaf({2, 2}, normal(4, 1));
  std::vector<V> results;
  {
    Loop<B> loop(tape, std::vector<std::size_t>(3, 2));
    V h = loop.carry(x);
    for (int t = 0; t < 3; ++t) {
      loop.step();
      results.push_back(2.0 * h);
      h = loop.carry_on(0, 3.0 * h);
    }
  }
  for (const V& result : results) B::fill(tape.seed(result), result.size(), 1);
  tape.play();
  const auto dx = gradient<2>(x);
  CHECK(dx(0, 0) == Approx(2 + 2 * 3 + 2 * 9));
}

namespace {

/// Steps over one state or two: with a loop, and without one, which is right by what operations do.
struct Steps {
  Tape& tape;
  bool with_loop;
  std::vector<std::size_t> rows;

  /// step(t, states) gives the states after it; afterwards: all states of each step, one behind the other.
  template <class Step>
  std::vector<V> run(std::vector<V> states, Step step, std::vector<V>* last = nullptr) const {
    std::vector<std::vector<V>> after(states.size());
    std::vector<V> all;
    std::unique_ptr<Loop<B>> loop;
    if (with_loop) loop = std::make_unique<Loop<B>>(tape, rows);
    for (V& state : states) state = loop ? loop->carry(state) : state;
    for (std::size_t t = 0; t < rows.size(); ++t) {
      if (loop) loop->step();
      for (V& state : states) state = state.row_range(0, rows[t]);
      states = step(t, states);
      for (std::size_t k = 0; k < states.size(); ++k) {
        if (loop) states[k] = loop->carry_on(k, states[k]);
        after[k].push_back(states[k]);
      }
    }
    for (std::size_t k = 0; k < states.size(); ++k)
      all.push_back(loop ? loop->all(k) : bahdanau::concat_rows<B>(after[k]));
    if (last != nullptr) *last = states;
    return all;
  }
};

/// The largest difference of any gradient with a loop and without.
template <class F>
double difference_of_loop(F build) {
  double largest = 0;
  for (const auto& rows : {equal_rows, ragged_rows, std::vector<std::size_t>{1, 1}})
    for (const auto mode : {Tape::Mode::record, Tape::Mode::checked}) {
      std::vector<std::vector<double>> gradients[2];
      for (const bool with_loop : {false, true}) {
        Tape tape(mode);
        std::vector<V> leaves;
        for (const Shape& shape :
             {Shape{rows[0], 3}, Shape{rows[0], 3}, Shape{3, 3}, Shape{9, 3}, Shape{12, 3}})
          leaves.push_back(tape.leaf(shape, normal(shape.size(), 20 + leaves.size())));
        tape.backward(build(Steps{tape, with_loop, rows}, leaves));
        for (const V& leaf : leaves) {
          auto& found = gradients[with_loop ? 1 : 0].emplace_back(leaf.size());
          B::download(tape.gradient_of(leaf), leaf.size(), found.data());
        }
      }
      for (std::size_t i = 0; i < gradients[0].size(); ++i)
        largest = std::max(largest, largest_difference(gradients[0][i], gradients[1][i]));
    }
  return largest;
}

}  // namespace

TEST_CASE("a loop changes no gradient, however its states are made and read", "[loop][gradient]") {
  const auto squares = [](const V& v) { return sum(v * v); };
  // Results that lie behind the state, twice from one state; the sum of both goes on.
  const auto behind = [](const V& h, const V& w) {
    Tape& tape = *h.tape;
    const V y = tape.following(h), product = linear(h, w);
    B::copy(product.value, product.size(), y.value);
    tape.record({"behind", {product}, {y}}, [=](Gradients<B>& d) {
      bahdanau::detail::add_elements<B>(y.size(), d.of(y), d.to(product));
    });
    return y;
  };
  SECTION("two results that follow one state") {
    CHECK(difference_of_loop([&](const Steps& steps, const std::vector<V>& x) {
            return squares(steps.run({x[0]}, [&](std::size_t, const std::vector<V>& h) {
              const V a = behind(h[0], x[2]), b = behind(h[0], x[2]);
              return std::vector<V>{tanh(a + a * b)};
            })[0]);
          }) < 1e-13);
  }
  SECTION("what follows the state is changed before it goes on, and read afterwards") {
    CHECK(difference_of_loop([&](const Steps& steps, const std::vector<V>& x) {
            V total = steps.tape.constant({1}, std::vector<double>{0});
            const auto all = steps.run({x[0]}, [&](std::size_t, const std::vector<V>& h) {
              const V a = behind(h[0], x[2]);
              total = total + sum(exp(a));
              return std::vector<V>{tanh(a * a) + h[0]};
            });
            return total + squares(all[0]);
          }) < 1e-13);
  }
  SECTION("two states that change places") {
    CHECK(difference_of_loop([&](const Steps& steps, const std::vector<V>& x) {
            const auto all = steps.run({x[0], x[1]}, [&](std::size_t t, const std::vector<V>& h) {
              const V a = behind(h[0], x[2]), b = behind(h[1], x[2]);
              return t % 2 == 0 ? std::vector<V>{tanh(b), tanh(a)} : std::vector<V>{b, a};
            });
            return squares(all[0]) + sum(exp(all[1]));
          }) < 1e-13);
  }
  SECTION("all states, and that of a step, in either order") {
    for (const bool first : {false, true})
      CHECK(difference_of_loop([&](const Steps& steps, const std::vector<V>& x) {
              std::vector<V> last;
              const V all = steps.run(
                  {x[0]},
                  [&](std::size_t, const std::vector<V>& h) {
                    return std::vector<V>{tanh(behind(h[0], x[2]))};
                  },
                  &last)[0];
              const V one = first ? squares(all) : sum(exp(last[0]));
              return one + (first ? sum(exp(last[0])) : squares(all));
            }) < 1e-13);
  }
  SECTION("a weight meets some rows of the state, in some of the steps") {
    CHECK(difference_of_loop([&](const Steps& steps, const std::vector<V>& x) {
            V total = steps.tape.constant({1}, std::vector<double>{0});
            const auto all = steps.run({x[0]}, [&](std::size_t t, const std::vector<V>& h) {
              if (t != 1) total = total + squares(linear(h[0].row_range(0, 1), x[3]));
              if (t != 1) total = total + squares(linear(h[0], x[4]));
              return std::vector<V>{tanh(linear(h[0], x[2]))};
            });
            return total + squares(all[0]);
          }) < 1e-13);
  }
  SECTION("a product is added to rows of an array outside") {
    CHECK(difference_of_loop([&](const Steps& steps, const std::vector<V>& x) {
            const V outside = linear(x[3], x[2]);  // [9, 3]
            const V all = steps.run({x[0]}, [&](std::size_t t, const std::vector<V>& h) {
              add_linear(outside.row_range(t, 1), h[0].row_range(0, 1), x[2]);
              return std::vector<V>{tanh(linear(h[0], x[2]))};
            })[0];
            return squares(outside) + squares(all);
          }) < 1e-13);
  }
}

TEST_CASE("a gradient that is put into some rows leaves the others at 0", "[tape][gradient]") {
  Tape tape;
  const V x = tape.leaf({3, 2}, normal(6, 1));
  const V y = 2.0 * x;
  tape.backward(sum(y));  // so that memory is not 0 by itself
  tape.reset();
  const V again = tape.leaf({3, 2}, normal(6, 1));
  const V z = 2.0 * again;
  B::fill(tape.seed(z.row_range(1, 1)), 2, 1);
  tape.play();
  CHECK(largest_difference(gradient<2>(again), {{0, 0}, {2, 2}, {0, 0}}) == 0);
}

TEST_CASE("a loop without steps, rows, pairs or states is an error", "[loop][error]") {
  Tape tape;
  const std::vector<std::size_t> none, zero = {0}, two = {2, 2}, one = {1};
  for (const auto& rows : {none, zero})
    CHECK(message_of([&] { Loop<B>(tape, rows); }) ==
          "Loop: expected at least one step with at least one row, got none");
  CHECK(message_of([&] { Loop<B>(tape, two, one); }) ==
        "Loop: expected numbers of pairs, one per step: 2, got 1");
  Loop<B> loop(tape, two);
  const V h = loop.carry(tape.leaf({2, 2}, normal(4, 1)));
  CHECK(message_of([&] { loop.carry_on(0, h); }) == "Loop::carry_on: expected a step() before it, got none");
  loop.step();
  CHECK(message_of([&] { loop.carry_on(1, h); }) == "Loop::carry_on: expected one of 1 states, got number 1");
}

TEST_CASE("an open loop goes on for as long as one likes with the memory of two steps", "[loop][memory]") {
  Tape tape(Tape::Mode::infer);
  const V w = tape.leaf({3, 3}, normal(9, 1));
  V h = tape.leaf({2, 3}, normal(6, 2)), plain = h;
  Tape other(Tape::Mode::infer);
  std::set<const double*> places;
  std::set<const Index*> lists;
  {
    bahdanau::OpenLoop<B> loop(tape);
    for (int t = 0; t < 100; ++t) {
      loop.step();
      h = tanh(linear(h, w));
      places.insert(h.value);
      lists.insert(tape.keep(std::vector<Index>{1, 2}));
    }
    for (int t = 0; t < 100; ++t)
      plain = tanh(linear(other.borrow(plain.value, plain.shape), other.borrow(w.value, w.shape)));
    CHECK((value<2>(h) == value<2>(plain)));
  }
  CHECK(places.size() == 2);
  CHECK(lists.size() == 2);
  CHECK(tape.variable({2, 3}).value != h.value);
  Tape recording;
  CHECK(message_of([&] { bahdanau::OpenLoop<B>{recording}; }) ==
        "OpenLoop: expected a tape that does not record, got one that does; use Loop, which knows its steps");
}
