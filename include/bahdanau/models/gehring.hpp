// The model of Gehring, Auli, Grangier and Dauphin, "A Convolutional Encoder Model for Neural Machine
// Translation", 2016: a convolutional encoder, and a decoder of one LSTM.
#pragma once

#include <cstddef>
#include <string_view>

#include <bahdanau/cell/lstm.hpp>
#include <bahdanau/encoder_decoder.hpp>
#include <bahdanau/model/convolutional.hpp>
#include <bahdanau/models/defaults.hpp>
#include <bahdanau/score/dot.hpp>
#include <bahdanau/train/optimizer.hpp>

namespace bahdanau::models {

/// Six layers of width 3 for keys, and six for values. The paper adds the previous token's embedding to the
/// query, which this model does not.
template <class Backend>
using Gehring = EncoderDecoder<Lstm, General, Backend, Convolutional<6, 3>>;

/// Section 4, model parameters: embeddings of 256, 512 hidden units, one layer in the decoder; weights
/// uniform within ±0.05, those of convolutions within ±1/√(k d) for windows of k rows of d units.
/// Optimization: Adam at 3.125 · 10⁻⁴, minibatches of 32.
template <class Backend>
struct Paper<Gehring<Backend>> {
  static Initializer draw(const ParameterList::Entry& entry) {
    const std::string_view name = entry.name;
    const Shape& shape = entry.parameter.shape;
    if (shape.rank() == 3) return Initializer::uniform_fan(shape[1] * shape[2]);
    // A bias of a convolution has the bound of its weight, as nn.Conv1d's: windows are 3 rows.
    if (name.starts_with("encoder.keys.") || name.starts_with("encoder.values."))
      return Initializer::uniform_fan(3 * shape[0]);
    return Initializer::uniform(0.05);
  }

  static Defaults<Adam> defaults(double /*loss_divisor: Adam does not mind how large gradients are*/) {
    return {.config = {.embed = 256, .hidden = 512, .layers = 1, .bridge = Bridge::mean},
            .initializer = draw,
            .optimizer = {.rate = 3.125e-4},
            .training = {.epochs = 20, .batch = 32, .clip = 0, .grouping = Grouping::by_length}};
  }
};

}  // namespace bahdanau::models
