// d2l's model with the cell `Rnn` and its other score.
#include <bahdanau/cell/rnn.hpp>
#include <bahdanau/score/scaled_dot.hpp>

#include "model_of.hpp"

namespace cli {

Combination d2l_rnn_scaled_dot() { return compiled<D2lWith<bd::Rnn, bd::ScaledDot>>(); }

}  // namespace cli
