// One layer of cells run over packed sequences: its outputs, and each sentence's state after its last token.
// All input products are one matrix product; sentences leave the running rows as they end.
#pragma once

#include <cstddef>
#include <vector>

#include <bahdanau/autograd/loop.hpp>
#include <bahdanau/cell/cell.hpp>
#include <bahdanau/cell/packing.hpp>

namespace bahdanau {

/// What a layer gives. Rows of `outputs` are packed as the inputs are; rows of `last` are in the packing's
/// order.
template <class C, Backend B>
struct LayerResult {
  Variable<B> outputs;   // [tokens, hidden]
  CellState<C, B> last;  // parts of [sentences, hidden]
};

/// `Packing::lists` on a tape; null where all sentences are equally long.
struct PackingLists {
  const Index *last_rows = nullptr, *state_rows = nullptr;

  /// Nothing may read them before `Tape::send`.
  template <Backend B>
  static PackingLists stage(Tape<B>& tape, const Packing& packing, std::vector<Index>& host) {
    if (packing.even()) return {};
    packing.lists(host);
    const Index* lists = tape.stage(host);
    return {lists, lists + packing.rows()};
  }
};

namespace detail {

/// The packed rows of all steps to each sentence's state after its last token.
template <Backend B>
Variable<B> last_of(const Variable<B>& all, const Packing& packing, const PackingLists& lists) {
  if (packing.even()) return all.row_range(packing.start(packing.steps() - 1), packing.rows());
  return gather_rows(all, lists.last_rows, packing.rows());
}

}  // namespace detail

namespace detail {

/// Runs a cell over input products [tokens, gates · hidden]; `first(loop, part)` carries each part of the
/// first state into the loop. `last` is there if it is wanted.
template <class C, Backend B, class First>
LayerResult<C, B> run_cells(const typename C::Weights& weights, const Variable<B>& projected, First first,
                            const Packing& packing, const PackingLists& lists, bool wants_last = true) {
  Loop<B> loop(*projected.tape, packing.counts(), {}, lists.state_rows);
  CellState<C, B> state;
  for (std::size_t p = 0; p < C::parts; ++p) state[p] = first(loop, p);
  for (std::size_t t = 0; t < packing.steps(); ++t) {
    const std::size_t running = packing.count(t);
    loop.step();
    for (Variable<B>& part : state) part = part.row_range(0, running);
    state = step_cell<C, B>(weights, projected.row_range(packing.start(t), running), state);
    for (std::size_t p = 0; p < C::parts; ++p) state[p] = loop.carry_on(p, state[p]);
  }
  LayerResult<C, B> result{loop.all(0), {}};
  for (std::size_t p = 0; wants_last && p < C::parts; ++p)
    result.last[p] = last_of(p == 0 ? result.outputs : loop.all(p), packing, lists);
  return result;
}

}  // namespace detail

/// Runs a cell of width `hidden` from the zero state over x [tokens, inputs].
template <class C, Backend B>
LayerResult<C, B> run_layer(const typename C::Weights& weights, std::size_t hidden, const Variable<B>& x,
                            const Packing& packing, const PackingLists& lists) {
  const Variable<B> projected = linear(x, weights.weight_ih, weights.bias_ih, detail::input_product<C>());
  return detail::run_cells<C, B>(
      weights, projected, [&](Loop<B>& loop, std::size_t) { return loop.carry_zeros(hidden); }, packing,
      lists);
}

/// The same for who has nothing else to send to the device.
template <class C, Backend B>
LayerResult<C, B> run_layer(const typename C::Weights& weights, std::size_t hidden, const Variable<B>& x,
                            const Packing& packing) {
  std::vector<Index> host;
  const PackingLists lists = PackingLists::stage(*x.tape, packing, host);
  x.tape->send();
  return run_layer<C, B>(weights, hidden, x, packing, lists);
}

}  // namespace bahdanau
