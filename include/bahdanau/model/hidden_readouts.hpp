// Readouts with a layer of their own between state, context, token and the output layer.
// `TanhReadout`, and `DeepOutput` with maxout, of which the width is part of its type.
#pragma once

#include <cstddef>
#include <string_view>

#include <bahdanau/autograd/ops/maxout.hpp>
#include <bahdanau/model/readout.hpp>
#include <bahdanau/nn/fixed_name.hpp>

namespace bahdanau {

/// W_s s + W_y y + W_c c + b: what both readouts below begin with. Without a context there is no W_c.
struct ReadoutSum {
  Parameter state, token, context, bias;  // [width, ...]; the bias [width]

  static ReadoutSum declare(Scope scope, std::size_t width, std::size_t state_width,
                            const ReadoutSizes& sizes) {
    Scope readout = scope.in("readout.");
    return {readout.matrix("state.weight", width, state_width),
            readout.matrix("token.weight", width, sizes.embed),
            sizes.context == 0 ? Parameter{} : readout.matrix("context.weight", width, sizes.context),
            readout.bias("state.bias", width, state_width)};
  }

  template <Backend B>
  Variable<B> operator()(const Variable<B>& s, const Features<B>& in) const {
    const Variable<B> sum = linear(s, state, bias);
    add_linear(sum, in.token, token);
    if (context.shape.rank() > 0) add_linear(sum, in.context, context);
    return sum;
  }
};

/// t = tanh(W_s s + W_y y + W_c c + b), as wide as the embedding.
struct TanhReadout {
  static constexpr std::string_view name = "tanh";
  static constexpr ReadoutInputs reads{.context = true, .token = true};
  static constexpr bool context_optional = true;
  using Weights = ReadoutSum;

  static std::size_t width(const ReadoutSizes& sizes) { return sizes.embed; }
  static Weights declare(Scope scope, const ReadoutSizes& sizes) {
    return Weights::declare(scope, sizes.embed, sizes.state, sizes);
  }
  template <Backend B>
  static Variable<B> features(const Weights& weights, const Features<B>& in) {
    return tanh(weights(in.state, in));
  }
};

/// Which state a deep output reads: the top layer's before the step, as the paper of 2015 has it, or what the
/// decoder gives after it, as that of 2014.
enum class OutputState : bool { before, after };

/// t_j = max(t̃_2j, t̃_2j+1) of t̃ = U s + V y + C c + b, which is twice as wide: maxout.
template <std::size_t Width, OutputState Which = OutputState::before>
struct DeepOutput {
  static_assert(Width > 0, "bahdanau: a DeepOutput is at least 1 wide");
  static constexpr bool first = Which == OutputState::before;
  static constexpr auto spelled = fixed_name("deep(", Width, first ? ")" : ",after)");
  static constexpr std::string_view name = spelled;
  static constexpr ReadoutInputs reads{.before = first, .context = true, .token = true};
  static constexpr bool context_optional = true;
  using Weights = ReadoutSum;

  static std::size_t width(const ReadoutSizes&) { return Width; }
  static Weights declare(Scope scope, const ReadoutSizes& sizes) {
    return Weights::declare(scope, 2 * Width, first ? sizes.hidden : sizes.state, sizes);
  }
  template <Backend B>
  static Variable<B> features(const Weights& weights, const Features<B>& in) {
    return maxout(weights(first ? in.before : in.state, in));
  }
};

static_assert(Readout<TanhReadout> && Readout<DeepOutput<500>>);

}  // namespace bahdanau
