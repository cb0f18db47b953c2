// RNNsearch: Bahdanau, Cho and Bengio, "Neural Machine Translation by Jointly Learning to Align and
// Translate", 2015, whole.
#pragma once

#include <string_view>

#include <bahdanau/cell/gru_reset_before.hpp>
#include <bahdanau/encoder_decoder.hpp>
#include <bahdanau/model/hidden_readouts.hpp>
#include <bahdanau/models/defaults.hpp>
#include <bahdanau/score/additive.hpp>
#include <bahdanau/train/optimizer.hpp>

namespace bahdanau::models {

/// A bidirectional encoder, whose backward state at the first word starts the decoder (`bridge` backward, in
/// the config); an additive score; a maxout layer of 500 that reads the state before the step.
template <class Backend>
using RnnSearch =
    EncoderDecoder<GruResetBefore, Additive, Backend, Bidirectional, AttendThenStep, DeepOutput<500>>;

/// Appendices A and B: recurrent matrices are orthogonal; W_a, U_a ~ N(0, 0.001²); v_a and biases are 0; all
/// other weights ~ N(0, 0.01²). Adadelta, minibatches of 80 sentences of at most 50 words, norms clipped
/// to 1.
template <class Backend>
struct Paper<RnnSearch<Backend>> {
  static Initializer draw(const ParameterList::Entry& entry) {
    const std::string_view name = entry.name;
    const auto has = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
    if (has("bias") || has("attention.w_v")) return Initializer::zeros();
    if (has("rnn.weight_hh")) return Initializer::orthogonal();
    return Initializer::normal(has("attention.") ? 0.001 : 0.01);
  }

  static Defaults<Adadelta> defaults(double loss_divisor) {
    constexpr double batch = 80;  // Adadelta does not mind how large gradients are, clipping does
    return {.config = {.embed = 620, .hidden = 1000, .layers = 1, .bridge = Bridge::backward},
            .initializer = draw,
            .optimizer = {.rate = 1, .rho = 0.95, .epsilon = 1e-6},
            .training = {
                .epochs = 5, .batch = 80, .clip = batch / loss_divisor, .grouping = Grouping::by_length}};
  }
};

}  // namespace bahdanau::models
