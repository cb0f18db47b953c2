// d2l's model with the cell `Gru` and the score `General`.
#include <bahdanau/cell/gru.hpp>
#include <bahdanau/score/dot.hpp>

#include "model_of.hpp"

namespace cli {

Combination gru_general() { return compiled<D2lWith<bd::Gru, bd::General>>(); }

}  // namespace cli
