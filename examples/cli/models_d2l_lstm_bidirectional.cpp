// d2l's model with the cell `Lstm` and a bidirectional encoder.
#include <bahdanau/cell/lstm.hpp>
#include <bahdanau/model/recurrent_encoder.hpp>
#include <bahdanau/score/additive.hpp>

#include "model_of.hpp"

namespace cli {

Combination d2l_lstm_bidirectional() {
  return compiled<D2lWith<bd::Lstm, bd::Additive, bd::Bidirectional>>();
}

}  // namespace cli
