// d2l's decoder: it attends with the top layer's state before the step, and the cells read the context beside
// the previous token.
#pragma once

#include <string_view>

#include <bahdanau/model/decoder.hpp>
#include <bahdanau/model/stacked_cells.hpp>

namespace bahdanau {

/// query = s before the step; input = [c ; y].
struct AttendThenStep {
  static constexpr std::string_view name = "attend_then_step";
  static constexpr bool attends_before_step = true;

  template <class C>
  class Network : public StackedDecoder<C> {
   public:
    Network(Scope scope, const DecoderSizes& sizes) : StackedDecoder<C>(scope, sizes.context, sizes) {}

    template <class S, Backend B>
    StepOutput<B> step(DecoderStep<S, B>& step, const Variable<B>& known, StackedState<C, B>& state) const {
      const Variable<B> context = step.attend(state.top());
      const Variable<B> before = state.top();
      this->cells_.add_input(known, context);
      return {this->cells_.step(step, known, state), context, before};
    }
  };
};

static_assert(Decoder<AttendThenStep>);

}  // namespace bahdanau
