// The model of the d2l.ai chapter on Bahdanau attention.
// All its policies are the library's defaults, which come from there.
#pragma once

#include <bahdanau/cell/gru.hpp>
#include <bahdanau/encoder_decoder.hpp>
#include <bahdanau/models/defaults.hpp>
#include <bahdanau/score/additive.hpp>
#include <bahdanau/train/optimizer.hpp>

namespace bahdanau::models {

/// d2l's: all policies are the defaults.
template <class Backend>
using D2l = EncoderDecoder<Gru, Additive, Backend>;

template <class Backend>
struct Paper<D2l<Backend>> {
  static Defaults<Adam> defaults(double /*loss_divisor: d2l's own*/) {
    return {.config = {.embed = 32, .hidden = 32, .layers = 2, .dropout = 0.1F},
            .initializer = [](const ParameterList::Entry& entry) { return entry.initializer; },
            .optimizer = {.rate = 0.005},
            .training = {.epochs = 250, .batch = 64, .clip = 1}};
  }
};

}  // namespace bahdanau::models
