// A layer over ragged sentences: each sentence's numbers as if it were alone, and its gradients.
#include <cstddef>
#include <vector>

#include <bahdanau/cell/gru.hpp>
#include <bahdanau/cell/lstm.hpp>
#include <bahdanau/cell/recurrent_layer.hpp>

#include "support/backends.hpp"
#include "support/catch.hpp"
#include "support/cell.hpp"
#include "support/compare.hpp"

using namespace bahdanau::test;
using bahdanau::CellState;
using bahdanau::Gru;
using bahdanau::Index;
using bahdanau::Lstm;
using bahdanau::Packing;
using bahdanau::PackingLists;
using bahdanau::run_layer;

namespace {

const std::vector<Index> lengths = {3, 1, 4, 3};
constexpr std::size_t tokens = 11, inputs = 2, hidden_width = 3;

PackingLists lists(DoubleTape& tape, const Packing& packing) {
  std::vector<Index> host;
  const PackingLists staged = PackingLists::stage(tape, packing, host);
  tape.send();
  return staged;
}

Packing packed() {
  Packing packing;
  packing.assign(lengths);
  return packing;
}

}  // namespace

TEMPLATE_TEST_CASE("a sentence's outputs do not depend on the others in its batch", "[layer]", Gru, Lstm) {
  using C = TestType;
  BoundCell<C, Double> cell(inputs, hidden_width);
  auto& tape = cell.tape;
  const Packing packing = packed();
  std::vector<double> numbers(tokens * inputs);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = bahdanau::random::Key{5}.normal(i);
  const auto x = tape.leaf({tokens, inputs}, numbers);
  const auto layer = run_layer<C, Double>(cell.w, hidden_width, x, packing, lists(tape, packing));
  CHECK(layer.outputs.shape == bahdanau::Shape{tokens, hidden_width});

  std::vector<CellState<C, Double>> alone(lengths.size());
  for (auto& state : alone) state.fill(tape.zeros({1, hidden_width}));
  packing.for_tokens([&](std::size_t row, std::size_t sentence, std::size_t) {
    alone[sentence] = C::step(cell.w, cell.project(x.row_range(row, 1)), alone[sentence]);
    const auto output = layer.outputs.row_range(row, 1);
    CHECK(largest_difference(value<2>(output), value<2>(alone[sentence][0])) < 1e-13);
  });
  // After the last token every part of the state, in the packing's order
  for (std::size_t p = 0; p < C::parts; ++p) {
    CHECK(layer.last[p].shape == bahdanau::Shape{lengths.size(), hidden_width});
    for (std::size_t r = 0; r < lengths.size(); ++r) {
      const auto sentence = static_cast<std::size_t>(packing.order()[r]);
      const auto last = layer.last[p].row_range(r, 1);
      CHECK(largest_difference(value<2>(last), value<2>(alone[sentence][p])) < 1e-13);
    }
  }
}

TEMPLATE_TEST_CASE("a layer over ragged sentences passes the gradient check", "[layer][gradient]", Gru,
                   Lstm) {
  using C = TestType;
  const Packing packing = packed();
  const double error = cell_gradient_error<C>(inputs, hidden_width,
                                              [&](DoubleTape& tape, const typename C::Weights& w, Inputs in) {
                                                const auto layer = run_layer<C, Double>(
                                                    w, hidden_width, in[0], packing, lists(tape, packing));
                                                std::vector<DoubleVariable> all = {layer.outputs};
                                                all.insert(all.end(), layer.last.begin(), layer.last.end());
                                                return bahdanau::concat_rows<Double>(all);
                                              },
                                              {{tokens, inputs}});
  CHECK(error <= gradient_tolerance);
}

TEMPLATE_TEST_CASE("stacked layers pass the gradient check", "[layer][gradient]", Gru, Lstm) {
  using C = TestType;
  const Packing packing = packed();
  // One cell as both layers, so its weights collect the gradients of both.
  const double error = cell_gradient_error<C>(
      hidden_width, hidden_width,
      [&](DoubleTape& tape, const typename C::Weights& w, Inputs in) {
        const auto first = run_layer<C, Double>(w, hidden_width, in[0], packing, lists(tape, packing));
        return run_layer<C, Double>(w, hidden_width, first.outputs, packing, lists(tape, packing)).last[0];
      },
      {{tokens, hidden_width}});
  CHECK(error <= gradient_tolerance);
}
