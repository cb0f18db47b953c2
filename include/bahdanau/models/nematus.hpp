// Nematus: Sennrich et al., "Nematus: a Toolkit for Neural Machine Translation", 2017.
// The network of its section 2, with tied embeddings, and the defaults of the toolkit that it describes.
#pragma once

#include <string_view>

#include <bahdanau/cell/gru.hpp>
#include <bahdanau/encoder_decoder.hpp>
#include <bahdanau/model/conditional.hpp>
#include <bahdanau/model/hidden_readouts.hpp>
#include <bahdanau/models/defaults.hpp>
#include <bahdanau/score/additive.hpp>
#include <bahdanau/train/optimizer.hpp>

namespace bahdanau::models {

/// A bidirectional encoder, the mean of whose keys starts the decoder (`bridge` mean, in the config); two GRU
/// cells in a row, between which it attends; a tanh layer, and an output layer that is the target embedding
/// (`tied`).
template <class Backend>
using Nematus = EncoderDecoder<Gru, Additive, Backend, Bidirectional, Conditional, TanhReadout>;

/// The paper names no sizes; these are the defaults that the README of its toolkit lists: embeddings of 512,
/// states of 1000, Adam at 0.0001, minibatches of 80 of similar lengths, norms clipped to 1. Its
/// initializers.py: recurrent matrices are orthogonal, all other weights ~ N(0, 0.01²), biases 0.
template <class Backend>
struct Paper<Nematus<Backend>> {
  static Initializer draw(const ParameterList::Entry& entry) {
    const std::string_view name = entry.name;
    const auto has = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
    if (has("bias")) return Initializer::zeros();
    return has(".weight_hh") ? Initializer::orthogonal() : Initializer::normal(0.01);
  }

  static Defaults<Adam> defaults(double loss_divisor) {
    constexpr double batch = 80;  // Adam does not mind how large gradients are, clipping does
    return {.config = {.embed = 512, .hidden = 1000, .layers = 1, .bridge = Bridge::mean, .tied = true},
            .initializer = draw,
            .optimizer = {.rate = 0.0001},
            .training = {
                .epochs = 10, .batch = 80, .clip = batch / loss_divisor, .grouping = Grouping::by_length}};
  }
};

}  // namespace bahdanau::models
