// d2l's model with the cell `Gru` and its other score.
#include <bahdanau/cell/gru.hpp>
#include <bahdanau/score/scaled_dot.hpp>

#include "model_of.hpp"

namespace cli {

Combination d2l_gru_scaled_dot() { return compiled<D2lWith<bd::Gru, bd::ScaledDot>>(); }

}  // namespace cli
