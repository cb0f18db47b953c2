// One step of each cell as PyTorch recorded it: values, and the gradients of inputs, states and weights.
#include <cstddef>
#include <string>
#include <vector>

#include <bahdanau/cell/gru.hpp>
#include <bahdanau/cell/lstm.hpp>

#include "support/backends.hpp"
#include "support/catch.hpp"
#include "support/cell.hpp"
#include "support/compare.hpp"
#include "support/golden.hpp"

using namespace bahdanau;
using namespace bahdanau::test;

namespace {

/// Compares values and gradients of one step with what PyTorch recorded in layers.expected.safetensors.
template <class C, Backend B>
void check_recorded_step(const std::string& cell, double tolerance) {
  using T = typename B::Scalar;
  const SafetensorsFile file = SafetensorsFile::open(golden_path("layers.expected.safetensors"));
  const auto recorded = [&](const std::string& name) { return golden_array<T, 2>(file, cell + "." + name); };
  const Array<T, 2> x_recorded = recorded("x");
  const std::size_t inputs = x_recorded.shape(1), hidden = recorded("h").shape(1);

  BoundCell<C, B> here(inputs, hidden);
  for (const ParameterList::Entry& entry : here.list.entries())
    here.weights.write(entry.parameter, file.template read<T>(cell + "." + entry.name));
  const Variable<B> x = here.tape.leaf(x_recorded);
  CellState<C, B> state;
  for (std::size_t p = 0; p < C::parts; ++p)
    state[p] = here.tape.leaf(recorded(std::string(C::part_names[p])));
  const CellState<C, B> next = C::step(here.w, here.project(x), state);
  Variable<B> total;
  for (std::size_t p = 0; p < C::parts; ++p) {
    const std::string part(C::part_names[p]);
    CAPTURE(cell, part);
    CHECK(largest_difference(value<2>(next[p]), recorded("out." + part)) <= tolerance);
    const Variable<B> one = sum(next[p] * here.tape.constant(recorded("g." + part)));
    total = p == 0 ? one : total + one;
  }
  here.tape.backward(total);
  CHECK(largest_difference(gradient<2>(x), recorded("gradient.x")) <= tolerance);
  for (std::size_t p = 0; p < C::parts; ++p) {
    const std::string part(C::part_names[p]);
    CAPTURE(cell, part);
    CHECK(largest_difference(gradient<2>(state[p]), recorded("gradient." + part)) <= tolerance);
  }
  CHECK(here.list.entries().size() == 4);
  for (const ParameterList::Entry& entry : here.list.entries()) {
    CAPTURE(cell, entry.name);
    const std::vector<T> expected = file.template read<T>(cell + ".gradient." + entry.name);
    const std::vector<T> got = here.gradients.read(entry.parameter);
    REQUIRE(got.size() == expected.size());
    CHECK(largest_difference(got.data(), expected.data(), got.size()) <= tolerance);
  }
}

}  // namespace

TEST_CASE("a GRU step and its gradients are PyTorch's", "[gru][golden]") {
  check_recorded_step<Gru, TestBackend<double>>("gru", 1e-12);
  check_recorded_step<Gru, TestBackend<float>>("gru", 1e-5);
}

TEST_CASE("an LSTM step and its gradients are PyTorch's", "[lstm][golden]") {
  check_recorded_step<Lstm, TestBackend<double>>("lstm", 1e-12);
  check_recorded_step<Lstm, TestBackend<float>>("lstm", 1e-5);
}
