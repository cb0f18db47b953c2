// d2l's model with the cell `Gru` and a bidirectional encoder.
#include <bahdanau/cell/gru.hpp>
#include <bahdanau/model/recurrent_encoder.hpp>
#include <bahdanau/score/additive.hpp>

#include "model_of.hpp"

namespace cli {

Combination d2l_gru_bidirectional() { return compiled<D2lWith<bd::Gru, bd::Additive, bd::Bidirectional>>(); }

}  // namespace cli
