// d2l's decoder: it attends with the top layer's state before the step, and the cells read the context beside
// the previous token.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include <bahdanau/model/decoder.hpp>
#include <bahdanau/model/stacked_cells.hpp>

namespace bahdanau {

/// query = s before the step; input = [c ; y].
struct AttendThenStep {
  static constexpr std::string_view name = "attend_then_step";
  static constexpr bool attends_before_step = true;

  template <class C>
  class Network {
   public:
    template <Backend B>
    using State = StackedState<C, B>;

    Network(Scope scope, const DecoderSizes& sizes)
        : cells_(scope, sizes.context + sizes.embed, sizes), hidden_(sizes.hidden), context_(sizes.context) {}

    std::size_t output_width() const { return hidden_; }

    template <Backend B>
    void start(Tape<B>&, std::span<const CellState<C, B>> first, State<B>& state) const {
      state.start(first);
    }

    /// The embedding's part of the first layer's input product [rows, gates · hidden].
    template <Backend B>
    Variable<B> known(const TokenInput<B>& tokens) const {
      return cells_.known(tokens, context_);
    }

    template <class S, Backend B>
    StepOutput<B> step(DecoderStep<S, B>& step, const Variable<B>& known, State<B>& state) const {
      const Variable<B> context = step.attend(state.top());
      const Variable<B> before = state.top();
      cells_.add_input(known, context);
      cells_.step(step, known, state);
      return {state.top(), context, before};
    }

   private:
    StackedCells<C> cells_;
    std::size_t hidden_, context_;
  };
};

static_assert(Decoder<AttendThenStep>);

}  // namespace bahdanau
