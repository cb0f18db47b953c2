// d2l's model with the cell `Lstm` and its other score.
#include <bahdanau/cell/lstm.hpp>
#include <bahdanau/score/scaled_dot.hpp>

#include "model_of.hpp"

namespace cli {

Combination d2l_lstm_scaled_dot() { return compiled<D2lWith<bd::Lstm, bd::ScaledDot>>(); }

}  // namespace cli
