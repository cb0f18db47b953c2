// One layer of cells run over packed sequences: its outputs, and each sentence's state after its last token.
// All input products are one matrix product; sentences leave the running rows as they end.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include <bahdanau/cell/cell.hpp>
#include <bahdanau/cell/packing.hpp>

namespace bahdanau::detail {

/// What a layer gives. Rows of `outputs` are packed as the inputs are; rows of `last` are in the packing's
/// order.
template <class C, Backend B>
struct LayerResult {
  Variable<B> outputs;   // [tokens, hidden]
  CellState<C, B> last;  // parts of [sentences, hidden]
};

/// Lists reused from layer to layer, so that a repeated pass allocates nothing.
template <class C, Backend B>
struct LayerScratch {
  std::vector<Variable<B>> outputs;
  std::array<std::vector<Variable<B>>, C::parts> ended;
};

/// Runs a cell of width `hidden` from the zero state over x [tokens, inputs].
template <class C, Backend B>
LayerResult<C, B> run_layer(const typename C::Weights& weights, std::size_t hidden, const Variable<B>& x,
                            const Packing& packing, LayerScratch<C, B>& scratch) {
  Tape<B>& tape = *x.tape;
  const Variable<B> projected = linear(x, tape[weights.weight_ih], tape[weights.bias_ih], input_product<C>());
  CellState<C, B> state;
  state.fill(tape.zeros({packing.rows(), hidden}));
  scratch.outputs.clear();
  for (auto& pieces : scratch.ended) pieces.clear();
  for (std::size_t t = 0; t < packing.steps(); ++t) {
    const std::size_t running = packing.count(t), next = packing.count(t + 1);
    for (Variable<B>& part : state) part = part.row_range(0, running);
    state = C::step(weights, projected.row_range(packing.start(t), running), state);
    scratch.outputs.push_back(state[0]);
    if (next < running)
      for (std::size_t p = 0; p < C::parts; ++p)
        scratch.ended[p].push_back(state[p].row_range(next, running - next));
  }
  LayerResult<C, B> result{concat_rows<B>(scratch.outputs), state};
  // The shortest sentences ended first and are the last rows.
  for (std::size_t p = 0; p < C::parts; ++p) {
    auto& pieces = scratch.ended[p];
    std::reverse(pieces.begin(), pieces.end());
    result.last[p] = pieces.size() == 1 ? pieces[0] : concat_rows<B>(pieces);
  }
  return result;
}

}  // namespace bahdanau::detail
