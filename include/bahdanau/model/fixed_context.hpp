// The decoder of Cho et al. (2014): cells that read one summary of the source at every step, beside the
// previous token.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include <bahdanau/model/decoder.hpp>
#include <bahdanau/model/stacked_cells.hpp>

namespace bahdanau {

/// input = [c ; y], where c is the top layer's first hidden state, after any bridge; no attention.
struct FixedContext {
  static constexpr std::string_view name = "fixed_context";
  static constexpr bool attends = false, attends_before_step = false;

  template <class C>
  class Network : public StackedDecoder<C> {
   public:
    template <Backend B>
    struct State {
      StackedState<C, B> cells;
      Variable<B> context;  // c [rows, hidden]
      Variable<B> product;  // W_ih c [rows, gates · hidden]: the same in all steps, so computed before them

      template <class F>
      void each(F f) {
        cells.each(f);
        f(context);
        f(product);
      }
    };

    Network(Scope scope, const DecoderSizes& sizes)
        : StackedDecoder<C>(scope, sizes.hidden, sizes), hidden_(sizes.hidden) {}

    std::size_t context_width() const { return hidden_; }

    template <Backend B>
    void start(Tape<B>&, std::span<const CellState<C, B>> first, State<B>& state) const {
      state.cells.start(first);
      state.context = state.cells.top();
      state.product = this->cells_.input_product(state.context);
    }

    template <class S, Backend B>
    StepOutput<B> step(DecoderStep<S, B>& step, const Variable<B>& known, State<B>& state) const {
      add_in_place(known, state.product);
      return {this->cells_.step(step, known, state.cells), state.context, {}};
    }

    template <Backend B>
    StepOutput<B> run(const PackedSteps<B>& steps, const Variable<B>& known, State<B>& state) const {
      steps.add(known, state.product);
      return {this->cells_.run(steps, known, state.cells), state.context, {}};
    }

   private:
    std::size_t hidden_;
  };
};

static_assert(Decoder<FixedContext>);

}  // namespace bahdanau
