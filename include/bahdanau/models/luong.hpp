// The model of Luong, Pham and Manning, "Effective Approaches to Attention-based Neural Machine Translation",
// 2015: global attention with the score `general`, and input feeding.
#pragma once

#include <bahdanau/cell/lstm.hpp>
#include <bahdanau/encoder_decoder.hpp>
#include <bahdanau/model/step_then_attend.hpp>
#include <bahdanau/models/defaults.hpp>
#include <bahdanau/score/dot.hpp>
#include <bahdanau/train/optimizer.hpp>

namespace bahdanau::models {

template <class Backend>
using Luong = EncoderDecoder<Lstm, General, Backend, InputFeeding>;

/// Section 4.1: four layers of 1000, weights uniform within ±0.1, SGD at 1 that is halved with each epoch
/// after the eighth of 12 with dropout 0.2, minibatches of 128, norms clipped to 5.
template <class Backend>
struct Paper<Luong<Backend>> {
  static Defaults<Sgd> defaults(double loss_divisor) {
    constexpr double batch = 128;
    return {.config = {.embed = 1000, .hidden = 1000, .layers = 4, .dropout = 0.2F},
            .initializer = [](const ParameterList::Entry&) { return Initializer::uniform(0.1); },
            .optimizer = {.rate = loss_divisor / batch},
            .training = {.epochs = 12,
                         .batch = 128,
                         .clip = 5 * batch / loss_divisor,
                         .schedule = {.decay = 0.5, .after = 8}}};
  }
};

}  // namespace bahdanau::models
