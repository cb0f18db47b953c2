// The decoder of Sutskever, Vinyals and Le (2014): cells that read the previous token, and nothing else.
// All that it knows of the source is its first state.
#pragma once

#include <string_view>

#include <bahdanau/model/decoder.hpp>
#include <bahdanau/model/stacked_cells.hpp>

namespace bahdanau {

/// input = y; no attention, and no context: readouts have no tensor for one.
struct Plain {
  static constexpr std::string_view name = "plain";
  static constexpr bool attends = false, attends_before_step = false;

  template <class C>
  class Network : public StackedDecoder<C> {
   public:
    Network(Scope scope, const DecoderSizes& sizes) : StackedDecoder<C>(scope, 0, sizes) {}

    template <class S, Backend B>
    StepOutput<B> step(DecoderStep<S, B>& step, const Variable<B>& known, StackedState<C, B>& state) const {
      return {this->cells_.step(step, known, state), {}, {}};
    }

    template <Backend B>
    StepOutput<B> run(const PackedSteps<B>& steps, const Variable<B>& known,
                      StackedState<C, B>& state) const {
      return {this->cells_.run(steps, known, state), {}, {}};
    }
  };
};

static_assert(Decoder<Plain>);

}  // namespace bahdanau
