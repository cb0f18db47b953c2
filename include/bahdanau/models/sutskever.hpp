// The model of Sutskever, Vinyals and Le, "Sequence to Sequence Learning with Neural Networks", 2014: deep
// LSTMs without attention, which read the source from its end.
#pragma once

#include <bahdanau/cell/lstm.hpp>
#include <bahdanau/encoder_decoder.hpp>
#include <bahdanau/model/plain.hpp>
#include <bahdanau/models/defaults.hpp>
#include <bahdanau/score/no_score.hpp>
#include <bahdanau/train/optimizer.hpp>

namespace bahdanau::models {

/// Four layers (`layers`, in the config) and reversed sources (`CorpusOptions::reverse_source`) are the
/// paper's, too: `defaults` has them.
template <class Backend>
using Sutskever = EncoderDecoder<Lstm, NoScore, Backend, Plain>;

/// Section 3.4: four layers of 1000, embeddings of 1000, weights uniform within ±0.08, SGD at 0.7,
/// minibatches of 128 sentences of similar lengths, norms clipped to 5. From the fifth epoch on the paper
/// halves the rate every half epoch, and ends after 7.5; here it is quartered with each of the epochs 6 to 8.
template <class Backend>
struct Paper<Sutskever<Backend>> {
  static Defaults<Sgd> defaults(double loss_divisor) {
    constexpr double batch = 128;
    return {.config = {.embed = 1000, .hidden = 1000, .layers = 4},
            .initializer = [](const ParameterList::Entry&) { return Initializer::uniform(0.08); },
            .optimizer = {.rate = 0.7 * loss_divisor / batch},
            .training = {.epochs = 8,
                         .batch = 128,
                         .clip = 5 * batch / loss_divisor,
                         .grouping = Grouping::by_length,
                         .schedule = {.decay = 0.25, .after = 5}},
            .reverse_source = true};
  }
};

}  // namespace bahdanau::models
