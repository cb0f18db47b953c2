// The decoder of Nematus (Sennrich et al., "Nematus: a Toolkit for Neural Machine Translation", 2017): two
// cells in a row, between which it attends.
#pragma once

#include <cstddef>
#include <string_view>

#include <bahdanau/autograd/loop.hpp>
#include <bahdanau/model/decoder.hpp>
#include <bahdanau/model/stacked_cells.hpp>

namespace bahdanau {

/// s' = Cell₁(y, s); c with query s'; s = Cell₂(c, s'), all of layer 0, whose state both cells share. Further
/// layers are on top, and the readout reads the top one.
///
/// The first cell's weights are `decoder.rnn`'s, whose inputs are y alone, the second one's `decoder.rnn2`'s.
/// Any cell will do but those that say `one_step_per_token`: it is declared twice, and stepped twice.
struct Conditional {
  static constexpr std::string_view name = "conditional";
  static constexpr bool attends_before_step = false;
  static constexpr bool steps_twice = true;

  template <class C>
  class Network : public StackedDecoder<C> {
   public:
    Network(Scope scope, const DecoderSizes& sizes)
        : StackedDecoder<C>(scope, 0, sizes),
          second_(C::declare(scope.in("rnn2.", "_l0"), sizes.context, sizes.hidden)) {}

    template <class S, Backend B>
    StepOutput<B> step(DecoderStep<S, B>& step, const Variable<B>& known, StackedState<C, B>& state) const {
      CellState<C, B>& first = state.layers[0];
      {
        const InnerStep<B> inner(*known.tape);
        this->cells_.step_first(known, state);
      }
      const Variable<B> context = step.attend(hidden(first));
      const Variable<B> product =
          linear(context, second_.weight_ih, second_.bias_ih, detail::input_product<C>());
      first = detail::step_cell<C, B>(second_, product, first);
      return {this->cells_.step_above(step, state), context, {}};
    }

   private:
    typename C::Weights second_;
  };
};

static_assert(Decoder<Conditional>);

}  // namespace bahdanau
