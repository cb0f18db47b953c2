// Mistakes that an author of an operation can make, each made on purpose: every one is named, none is a wrong
// gradient.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <bahdanau/autograd/ops.hpp>
#include <bahdanau/cell/gru.hpp>

#include "support/backends.hpp"
#include "support/catch.hpp"
#include "support/cell.hpp"
#include "support/message.hpp"

using bahdanau::Gradients;
using bahdanau::Result;
using namespace bahdanau::test;

namespace {

using B = TestBackend<double>;
using Tape = bahdanau::Tape<B>;
using V = bahdanau::Variable<B>;

V ones(Tape& tape, std::size_t rows = 2, std::size_t cols = 3) {
  return tape.leaf({rows, cols}, std::vector<double>(rows * cols, 1));
}

/// y = x, with an adjoint of one's own.
template <class Adjoint>
V identity(const V& x, Adjoint adjoint) {
  const V y = x.tape->variable(x.shape);
  B::copy(x.value, x.size(), y.value);
  x.tape->record({"identity", {x}, {y}}, [=](Gradients<B>& d) { adjoint(d, x, y); });
  return y;
}

const auto right = [](Gradients<B>& d, const V& x, const V& y) {
  bahdanau::detail::add_elements<B>(x.size(), d.of(y), d.to(x));
};

/// y = x + 1 in x's place, which it takes over.
V increment(const V& x) {
  const V mine = x.tape->take(x);
  const V y = x.tape->variable(x.shape);
  B::copy(mine.value, mine.size(), y.value);
  x.tape->record({"increment", {mine}, {y}},
                 [=](Gradients<B>& d) { B::copy(d.of(y), mine.size(), d.in_place(mine)); });
  return y;
}

}  // namespace

TEST_CASE("a second reader of what was given to one is an error in any mode", "[tape][checks]") {
  for (const auto mode : {Tape::Mode::record, Tape::Mode::checked}) {
    Tape tape(mode);
    const V x = ones(tape), w = ones(tape, 4, 3);
    const V given = linear(x, w, Result::given);
    increment(given);
    CHECK(message_of([&] { tanh(given); }) ==
          "tanh: expected an argument that is its to read, got one that was given to another operation; make "
          "it with Result::kept");
  }
}

TEST_CASE("a second reader is found where it leaves no adjoint", "[tape][checks]") {
  Tape tape(Tape::Mode::checked);
  const V x = tape.zeros({2, 3}), w = ones(tape, 4, 3);
  const V of_constants = linear(x, tape.zeros({4, 3}), Result::given);
  increment(of_constants);
  CHECK(message_of([&] { tanh(of_constants); }) ==
        "tanh: expected an argument that is its to read, got one that was given to another operation; make "
        "it with Result::kept");
  CHECK(message_of([&] { add_in_place(linear(x, w), of_constants); }).starts_with("add_in_place: expected"));
  const V y = tape.variable({2, 4});
  CHECK(message_of([&] {
          tape.record({"peek", {x}, {y}, {of_constants}}, [](Gradients<B>&) {});
        }).starts_with("peek: expected a value that it may read later"));
}

TEST_CASE("a second reader of a constant that was given is found, and that of its neighbour is not",
          "[tape][checks]") {
  Tape tape(Tape::Mode::checked);
  const V x = ones(tape, 1, 3), all = tape.zeros({2, 3});
  V given = all.row_range(1, 1);
  given.given = true;
  increment(given);
  tape.backward(sum(x + all.row_range(0, 1)));
  CHECK(message_of([&] { x + given; }) ==
        "operator+: expected an argument that is its to read, got one that was given to another operation; "
        "make it with Result::kept");
  CHECK(message_of([&] { tanh(all); }).starts_with("tanh: expected an argument that is its to read"));
  tape.reset();  // what comes now may lie where the taken rows were
  CHECK(message_of([&] { tanh(tape.zeros({2, 3})); }) == "nothing was thrown");
}

TEST_CASE("what has a reader already is copied before it is taken over", "[tape][checks]") {
  Tape tape(Tape::Mode::checked);
  const V x = ones(tape), w = ones(tape, 4, 3);
  const V given = linear(x, w, Result::given);
  const V first = tanh(given), second = increment(given);
  tape.backward(sum(first) + sum(second));
  const double slope = 1 - std::tanh(3.0) * std::tanh(3.0);
  CHECK(gradient<2>(x)(0, 0) == Approx(4 * (slope + 1)));
}

TEST_CASE("a cell's input product that is read afterwards is an error, not a wrong gradient",
          "[tape][checks]") {
  BoundCell<bahdanau::Gru, B> cell(3, 2);
  const V x = ones(cell.tape);
  const V projected = linear(x, cell.tape[cell.w.weight_ih], cell.tape[cell.w.bias_ih], Result::given);
  bahdanau::Gru::step<B>(cell.w, projected, {cell.tape.zeros({2, 2})});
  CHECK(message_of([&] { sum(projected); }) ==
        "sum_columns: expected an argument that is its to read, got one that was given to another operation; "
        "make it with Result::kept");
}

TEST_CASE("a read of what was given away is an error in any mode", "[tape][checks]") {
  Tape tape;
  const V x = ones(tape), w = ones(tape, 4, 3);
  const V given = linear(x, w, Result::given);
  increment(given);
  const V y = tape.variable({2, 3});
  CHECK(message_of([&] {
          tape.record({"peek", {x}, {y}, {given}}, [](Gradients<B>&) {});
        }) ==
        "peek: expected a value that it may read later, got one that was given to another operation; make it "
        "with Result::kept");
}

TEST_CASE("adding to the gradient of what was taken over is an error in any mode", "[tape][checks]") {
  Tape tape;
  const V x = ones(tape), w = ones(tape, 4, 3);
  const V mine = tape.take(linear(x, w, Result::given)), y = tape.variable({2, 4});
  tape.record({"confused", {mine}, {y}}, [=](Gradients<B>& d) { d.to(mine); });
  CHECK(message_of([&] { tape.backward(sum(y)); }) ==
        "Gradients::to: expected an argument that keeps its value, got one that was taken; use in_place()");
  Tape other;
  const V z = ones(other);
  const V same = identity(z, [](Gradients<B>& d, const V& from, const V&) { d.in_place(from); });
  CHECK(message_of([&] { other.backward(sum(same)); }) ==
        "Gradients::in_place: expected an argument that was taken with Tape::take, got another one");
}

TEST_CASE("a write to what an adjoint still needs is found", "[tape][checks]") {
  Tape tape(Tape::Mode::checked);
  const V x = ones(tape);
  const V y = tanh(x);  // whose adjoint needs y
  const V z = identity(y, right);
  B::fill(y.value, 1, 7);
  CHECK(message_of([&] { tape.backward(sum(z)); }) ==
        "tanh: expected the values that its adjoint needs, got others; somebody has written over them since");
}

TEST_CASE("any write to what an adjoint still needs is found, to the last bit of the last number",
          "[tape][checks]") {
  const auto found = [](std::size_t n, auto write) {
    std::vector<double> numbers(n);
    for (std::size_t i = 0; i < n; ++i) numbers[i] = 0.1 + static_cast<double>(i) / 1000;
    Tape tape(Tape::Mode::checked);
    const V y = tanh(tape.leaf({1, n}, numbers)), z = identity(y, right);
    std::vector<double> values = on_host<B>(y.value, n);
    write(values);
    B::upload(values.data(), n, y.value);
    return message_of([&] { tape.backward(sum(z)); }).starts_with("tanh: expected the values");
  };
  for (const std::size_t n : {1U, 2U, 7U, 8U, 9U, 16U, 17U, 100U, 4096U, 4097U, 5000U}) {
    CAPTURE(n);
    CHECK_FALSE(found(n, [](auto&) {}));
    CHECK(found(n, [](auto& y) { y.front() = std::nextafter(y.front(), 1); }));
    CHECK(found(n, [](auto& y) { y.back() = std::nextafter(y.back(), 1); }));
    CHECK(found(n, [](auto& y) {
      for (double& x : y) x = -x;
    }));
    for (std::size_t apart = 1; apart < n; apart *= 2) {
      CAPTURE(apart);
      CHECK(found(n, [&](auto& y) { std::swap(y[0], y[apart]); }));
      CHECK(found(n, [&](auto& y) {
        y[0] = -y[0];
        y[apart] = -y[apart];
      }));
    }
  }
}

TEST_CASE("a write to a weight is found, before the adjoints and by one of them", "[tape][checks]") {
  BoundCell<bahdanau::Gru, B> cell(3, 2);
  const auto message = [&](auto before, auto during) {
    Tape tape(Tape::Mode::checked);
    bahdanau::bind(tape, cell.weights, &cell.gradients);
    bahdanau::CellState<bahdanau::Gru, B> state{tape.zeros({2, 2})};
    for (int step = 0; step < 3; ++step) {
      const V x = identity(ones(tape), [&during, step](Gradients<B>& d, const V& from, const V& to) {
        if (step == 1) during();
        right(d, from, to);
      });
      state = bahdanau::Gru::step<B>(
          cell.w, linear(x, tape[cell.w.weight_ih], tape[cell.w.bias_ih], Result::given), state);
    }
    before();
    return message_of([&] { tape.backward(sum(state[0])); });
  };
  const auto change = [&] {
    cell.weights.change(cell.w.weight_hh, [](auto numbers) { numbers.back() += 1; });
  };
  const auto nothing = [] {};
  const std::string expected =
      "Gru::step: expected the values that its adjoint needs, got others; somebody has written over them "
      "since";
  CHECK(message(nothing, nothing) == "nothing was thrown");
  CHECK(message(change, nothing) == expected);
  CHECK(message(nothing, change) == expected);
}

TEST_CASE("a gradient that an adjoint forgets to fill is found", "[tape][checks]") {
  Tape tape(Tape::Mode::checked);
  const V y = identity(tanh(ones(tape)), [](Gradients<B>& d, const V&, const V& result) { d.of(result); });
  CHECK(
      message_of([&] { tape.backward(sum(y)); }) ==
      "identity: expected an adjoint that adds to the gradient of each argument, got none for argument 1 of "
      "those that have one; ask for Gradients::to() of each, or do not name it in record()");
}

TEST_CASE("gradients that an operation has not named are found", "[tape][checks]") {
  Tape tape(Tape::Mode::checked);
  const V x = ones(tape), other = ones(tape);
  const V adds = identity(x, [=](Gradients<B>& d, const V&, const V&) { d.to(other); });
  CHECK(
      message_of([&] { tape.backward(sum(adds)); }) ==
      "identity: expected an adjoint that adds to the gradients of its arguments, got one of another array; "
      "name all arguments in record()");
  Tape second(Tape::Mode::checked);
  const V z = ones(second), unrelated = ones(second);
  const V reads = identity(z, [=](Gradients<B>& d, const V&, const V&) { d.of(unrelated); });
  CHECK(
      message_of([&] { second.backward(sum(reads)); }) ==
      "identity: expected an adjoint that reads the gradients of its results, got one of another array; name "
      "all results in record()");
}

TEST_CASE("a result without an adjoint is found", "[tape][checks]") {
  Tape tape(Tape::Mode::checked);
  const V x = ones(tape);
  const V y = tape.variable(x.shape);  // y = x, and nobody knows
  B::copy(x.value, x.size(), y.value);
  CHECK(
      message_of([&] { tape.backward(sum(y)); }) ==
      "Tape: expected an operation that records an adjoint for each result, got an array of 6 whose gradient "
      "nobody reads; name it among the results in record()");
}

TEST_CASE("a tape that has written over values is not played twice", "[tape][checks]") {
  Tape tape;
  const V x = ones(tape), w = ones(tape, 4, 3);
  const V y = sum(increment(linear(x, w, Result::given)));
  tape.backward(y);
  CHECK(message_of([&] { tape.backward(y); }) ==
        "backward: expected a tape that was not played before, got one whose adjoints have written over "
        "values; "
        "record it again, or make results with Result::kept");
}

TEST_CASE("an array may be taken over part by part, and what is left of it has no gradient",
          "[tape][checks]") {
  // y = x wᵀ, of which rows are taken upwards, downwards, or with a gap; each counts once where it is used.
  for (const std::vector<std::size_t>& order :
       {std::vector<std::size_t>{1, 2}, {2, 1}, {0, 1, 2, 3}, {3, 2, 1, 0}, {0, 3}, {1, 3, 2}}) {
    for (const auto mode : {Tape::Mode::record, Tape::Mode::checked}) {
      Tape tape(mode);
      const V x = ones(tape, 4, 3), w = ones(tape, 2, 3);
      const V given = linear(x, w, Result::given);
      V total = tape.constant({1}, std::vector<double>{0});
      for (const std::size_t row : order) total = total + sum(increment(given.row_range(row, 1)));
      tape.backward(total);
      const auto dx = gradient<2>(x);
      for (std::size_t row = 0; row < 4; ++row)
        CHECK(dx(row, 0) == (std::count(order.begin(), order.end(), row) == 1 ? 2 : 0));
      CHECK(gradient<2>(w)(0, 0) == static_cast<double>(order.size()));
    }
  }
}

TEST_CASE("an operation may take several arrays over, given or not", "[tape][checks]") {
  for (const auto mode : {Tape::Mode::record, Tape::Mode::checked}) {
    Tape tape(mode);
    const V x = ones(tape), w = ones(tape, 3, 3);
    const V given = linear(x, w, Result::given);
    const V a = tape.take(given), b = tape.take(x), c = tape.take(x), y = tape.variable({2, 3});
    for (std::size_t i = 0; i < 6; ++i) y.value[i] = a.value[i] + b.value[i] + c.value[i];
    tape.record({"three", {a, b, c}, {y}}, [=](Gradients<B>& d) {
      for (const V& mine : {a, b, c}) B::copy(d.of(y), 6, d.in_place(mine));
    });
    tape.backward(sum(y));
    CHECK(gradient<2>(x)(0, 0) == 3 + 2);
  }
}

TEST_CASE("a sum of constants is a constant, and so is what it becomes", "[tape][checks]") {
  Tape tape;
  const V x = ones(tape), c = tape.zeros({2, 3});
  CHECK(message_of([&] { tape.backward(sum(tanh(c + c))); }) ==
        "backward: expected a result that depends on a recorded variable, got a constant");
  tape.backward(sum(tanh(c + c) + x));
  CHECK(gradient<2>(x)(0, 0) == 1);
  CHECK(message_of([&] {
          add_linear(tape.zeros({2, 3}), x, ones(tape, 3, 3));
        }) == "add_linear: expected a y with a gradient, got a constant; make it with linear, or variable");
}

TEST_CASE("gradients of constants may be asked for, several at once", "[tape][checks]") {
  Tape tape(Tape::Mode::checked);
  const V x = ones(tape), small = tape.zeros({1}), large = tape.zeros({50'000});
  const V y = tape.variable(x.shape);
  B::copy(x.value, x.size(), y.value);
  tape.record({"careless", {x, small, large}, {y}}, [=](Gradients<B>& d) {
    double *a = d.to(small), *b = d.to(large);
    b[49'999] += 1;
    a[0] += 1;
    bahdanau::detail::add_elements<B>(x.size(), d.of(y), d.to(x));
  });
  tape.backward(sum(y));
  CHECK(gradient<2>(x)(0, 0) == 1);
}
