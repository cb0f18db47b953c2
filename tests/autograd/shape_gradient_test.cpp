// The adjoints of operations that move elements, against central differences.
// Each is followed by a tanh or a product where it would otherwise be too even to tell elements apart.
#include <array>
#include <vector>

#include "support/catch.hpp"
#include "support/gradient.hpp"

using namespace bahdanau::test;
using bahdanau::concat_columns;
using bahdanau::concat_rows;
using bahdanau::Index;
using V = DoubleVariable;

TEST_CASE("a slice of columns passes the gradient check", "[ops][gradient]") {
  const Function f = [](DoubleTape&, Inputs in) { return tanh(slice_columns(in[0], 2, 9)); };
  CHECK(gradient_error(f, {{3, 12}}) <= gradient_tolerance);
  const Function overlapping = [](DoubleTape&, Inputs in) {
    return slice_columns(in[0], 0, 3) * slice_columns(in[0], 2, 3);
  };
  CHECK(gradient_error(overlapping, {{4, 5}}) <= gradient_tolerance);
}

TEST_CASE("arrays side by side pass the gradient check", "[ops][gradient]") {
  const Function f = [](DoubleTape&, Inputs in) { return tanh(concat_columns({in[0], in[1], in[2]})); };
  CHECK(gradient_error(f, {{3, 2}, {3, 9}, {3, 1}}) <= gradient_tolerance);
  const Function twice = [](DoubleTape&, Inputs in) { return tanh(concat_columns({in[0], in[0]})); };
  CHECK(gradient_error(twice, {{3, 2}}) <= gradient_tolerance);
}

TEST_CASE("arrays below one another pass the gradient check", "[ops][gradient]") {
  const Function f = [](DoubleTape&, Inputs in) { return tanh(concat_rows(in)); };
  CHECK(gradient_error(f, {{3, 5}, {1, 5}, {2, 5}}) <= gradient_tolerance);
  const Function twice = [](DoubleTape&, Inputs in) {
    const std::array<V, 2> parts{in[0], in[0]};
    return tanh(concat_rows<Double>(parts));
  };
  CHECK(gradient_error(twice, {{3, 2}}) <= gradient_tolerance);
}

TEST_CASE("rows added in place pass the gradient check", "[ops][gradient]") {
  const Function whole = [](DoubleTape&, Inputs in) {
    const V y = linear(in[0], in[1]);
    add_in_place(y, in[2]);
    return tanh(y);
  };
  CHECK(gradient_error(whole, {{3, 2}, {4, 2}, {3, 4}}) <= gradient_tolerance);
  const std::vector<Index> rows = {2, 0, 2, 2, 1};
  const Function gathered = [&](DoubleTape& tape, Inputs in) {
    const V y = linear(in[0], in[1]);
    add_gathered_rows(y, in[2], tape.keep(rows));
    return tanh(y);
  };
  CHECK(gradient_error(gathered, {{5, 2}, {4, 2}, {3, 4}}) <= gradient_tolerance);
  DoubleTape tape(DoubleTape::Mode::checked);
  const V y = tape.leaf({2, 1}, std::vector<double>{1, 2}),
          x = tape.leaf({2, 1}, std::vector<double>{10, 20});
  add_in_place(y, x);
  add_gathered_rows(y, x, tape.keep(std::vector<Index>{1, 1}));
  CHECK(on_host<Double>(y.value, 2) == std::vector<double>{31, 42});
}

TEST_CASE("a constant among the parts takes no gradient away from the others", "[ops][gradient]") {
  // Each part is an operation of its own, and what is made from the whole must still be played.
  const int at = GENERATE(0, 1, 2);
  CAPTURE(at);
  const auto parts = [at](DoubleTape& tape, Inputs in, const bahdanau::Shape& shape) {
    std::array<V, 3> list{in[0], in[1], in[1]};
    list[static_cast<std::size_t>(at)] = tape.zeros(shape);
    return list;
  };
  const Function columns = [&](DoubleTape& tape, Inputs in) {
    const auto p = parts(tape, in, {3, 4});
    return tanh(concat_columns({p[0], p[1], p[2]}));
  };
  CHECK(gradient_error(columns, {{3, 2}, {3, 1}}) <= gradient_tolerance);
  const Function rows = [&](DoubleTape& tape, Inputs in) {
    const auto p = parts(tape, in, {2, 5});
    const std::vector<Index> index = {3, 0, 1};
    return gather_rows(concat_rows<Double>({p[0], p[1], p[2]}), index);
  };
  CHECK(gradient_error(rows, {{3, 5}, {1, 5}}) <= gradient_tolerance);
}

TEST_CASE("a product that is added to a constant one has a gradient", "[ops][gradient]") {
  const Function f = [](DoubleTape& tape, Inputs in) {
    const V none = tape.zeros({3, 4}), weight = tape.zeros({2, 4});
    const V y = linear(none, weight);
    add_linear(y, in[0], in[1]);
    return tanh(y);
  };
  CHECK(gradient_error(f, {{3, 5}, {2, 5}}) <= gradient_tolerance);
}

TEST_CASE("gathered rows pass the gradient check, though some are taken twice", "[ops][gradient]") {
  const Function f = [](DoubleTape&, Inputs in) {
    const std::vector<Index> index = {2, 0, 2, 2, 3};  // row 1 is never taken
    return tanh(gather_rows(in[0], index));
  };
  CHECK(gradient_error(f, {{4, 9}}) <= gradient_tolerance);
}

TEST_CASE("a range of rows and another shape share the array's gradient", "[ops][gradient]") {
  const Function ranges = [](DoubleTape&, Inputs in) {
    return tanh(in[0].row_range(1, 2)) * in[0].row_range(2, 2);
  };
  CHECK(gradient_error(ranges, {{4, 3}}) <= gradient_tolerance);
  const Function reshaped = [](DoubleTape&, Inputs in) {
    return matmul(in[0].reshape({2, 6}), tanh(in[0]).reshape({6, 2}));
  };
  CHECK(gradient_error(reshaped, {{4, 3}}) <= gradient_tolerance);
  const Function of_computed = [](DoubleTape&, Inputs in) {
    const V y = tanh(in[0]);
    return y.row_range(0, 2) * y.row_range(1, 2);
  };
  CHECK(gradient_error(of_computed, {{3, 5}}) <= gradient_tolerance);
}
