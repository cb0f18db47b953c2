// The RNN Encoder-Decoder of Cho et al., "Learning Phrase Representations using RNN Encoder-Decoder for
// Statistical Machine Translation", 2014: one summary of the source for all steps.
#pragma once

#include <string_view>

#include <bahdanau/cell/gru_reset_before.hpp>
#include <bahdanau/encoder_decoder.hpp>
#include <bahdanau/model/fixed_context.hpp>
#include <bahdanau/model/hidden_readouts.hpp>
#include <bahdanau/models/defaults.hpp>
#include <bahdanau/score/no_score.hpp>
#include <bahdanau/train/optimizer.hpp>

namespace bahdanau::models {

/// The gated unit of the paper, its context at every step, and a maxout layer of 500 that reads the state
/// after the step, the context and the token.
template <class Backend>
using Cho =
    EncoderDecoder<GruResetBefore, NoScore, Backend, FixedContext, DeepOutput<500, OutputState::after>>;

/// Section 4.1: 1000 units, embeddings of 100; recurrent matrices are orthogonal, all other weights ~
/// N(0, 0.01²), biases, of which the paper does not speak, are 0; Adadelta, minibatches of 64, no clipping.
/// The paper trains for three days, not for a number of epochs: that is up to the caller.
template <class Backend>
struct Paper<Cho<Backend>> {
  static Initializer draw(const ParameterList::Entry& entry) {
    const std::string_view name = entry.name;
    const auto has = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
    if (has("bias")) return Initializer::zeros();
    return has("rnn.weight_hh") ? Initializer::orthogonal() : Initializer::normal(0.01);
  }

  static Defaults<Adadelta> defaults(double) {
    return {.config = {.embed = 100, .hidden = 1000, .layers = 1},
            .initializer = draw,
            .optimizer = {.rate = 1, .rho = 0.95, .epsilon = 1e-6},
            .training = {.batch = 64, .clip = 0}};
  }
};

}  // namespace bahdanau::models
