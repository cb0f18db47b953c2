// The AttentionDecoder concept: anything that decodes step by step and shows what it attended to.
// `EncoderDecoder` models it; so may a decoder of one's own.
#pragma once

#include <concepts>
#include <span>
#include <vector>

#include <bahdanau/core/array.hpp>
#include <bahdanau/core/token.hpp>

namespace bahdanau {

/// Decodes step by step and shows its attention. Models: `EncoderDecoder`.
///
/// 1. `init_state(encoded)` makes a `State` from an `Encoded`: encoder outputs, hidden state, valid lengths.
/// 2. `step(tokens, state)` feeds one token per sentence, moves the state on, and returns the logits of the
///    next one [sentences, vocabulary].
/// 3. `attention_weights(state)` are the weights of every step so far, each [sentences, source steps]; rows
///    sum to 1, and a position beyond a valid length has weight 0. A decoder that does not attend has
///    [sentences, 0].
template <class D>
concept AttentionDecoder = requires(const D& decoder, const typename D::Encoded& encoded,
                                    typename D::State& state, std::span<const Token> tokens) {
  { decoder.init_state(encoded) } -> std::same_as<typename D::State>;
  { decoder.step(tokens, state) } -> std::convertible_to<Array<typename D::Scalar, 2>>;
  { decoder.attention_weights(state) } -> std::convertible_to<std::vector<Array<typename D::Scalar, 2>>>;
};

}  // namespace bahdanau
