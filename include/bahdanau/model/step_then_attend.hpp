// The decoders of Luong, Pham and Manning (2015): the cells step first, and attend with their new state. What
// the readout sees is a = tanh(W_c [c ; s]).
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include <bahdanau/model/decoder.hpp>
#include <bahdanau/model/stacked_cells.hpp>

namespace bahdanau {

namespace detail {

/// W_c of a = tanh(W_c [c ; s]) [hidden, context + hidden].
class Combination {
 public:
  Combination(Scope scope, const DecoderSizes& sizes)
      : weight_(scope.matrix("combine.weight", sizes.hidden, sizes.context + sizes.hidden)),
        context_(sizes.context) {}

  template <Backend B>
  Variable<B> operator()(const Variable<B>& context, const Variable<B>& state) const {
    const Variable<B> W = state.tape->weight(weight_);
    const Variable<B> sum = linear_columns(context, W, 0);
    add_linear(sum, state, W, context_);
    return tanh(sum);
  }

 private:
  Parameter weight_;
  std::size_t context_;
};

}  // namespace detail

/// input = y; query = s after the step; output a = tanh(W_c [c ; s]).
struct StepThenAttend {
  static constexpr std::string_view name = "step_then_attend";
  static constexpr bool attends_before_step = false;

  template <class C>
  class Network : public StackedDecoder<C> {
   public:
    Network(Scope scope, const DecoderSizes& sizes)
        : StackedDecoder<C>(scope, 0, sizes), combine_(scope, sizes) {}

    template <class S, Backend B>
    StepOutput<B> step(DecoderStep<S, B>& step, const Variable<B>& known, StackedState<C, B>& state) const {
      const Variable<B> top = this->cells_.step(step, known, state);
      const Variable<B> context = step.attend(top);
      return {combine_(context, top), context, {}};
    }

   private:
    detail::Combination combine_;
  };
};

/// The same with input [a of the step before ; y], from a = 0 on.
struct InputFeeding {
  static constexpr std::string_view name = "input_feeding";
  static constexpr bool attends_before_step = false;

  template <class C>
  class Network : public StackedDecoder<C> {
   public:
    template <Backend B>
    struct State {
      StackedState<C, B> cells;
      Variable<B> fed;  // a [rows, hidden]

      template <class F>
      void each(F f) {
        cells.each(f);
        f(fed);
      }
    };

    Network(Scope scope, const DecoderSizes& sizes)
        : StackedDecoder<C>(scope, sizes.hidden, sizes), combine_(scope, sizes) {}

    template <Backend B>
    void start(Tape<B>& tape, std::span<const CellState<C, B>> first, State<B>& state) const {
      state.cells.start(first);
      state.fed = tape.zeros(hidden(first[0]).shape);
    }

    template <class S, Backend B>
    StepOutput<B> step(DecoderStep<S, B>& step, const Variable<B>& known, State<B>& state) const {
      this->cells_.add_input(known, state.fed);
      const Variable<B> top = this->cells_.step(step, known, state.cells);
      const Variable<B> context = step.attend(top);
      state.fed = combine_(context, top);
      return {state.fed, context, {}};
    }

   private:
    detail::Combination combine_;
  };
};

static_assert(Decoder<StepThenAttend> && Decoder<InputFeeding>);

}  // namespace bahdanau
