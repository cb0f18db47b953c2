// d2l's model with the cell `Gru` and the score `Dot`.
#include <bahdanau/cell/gru.hpp>
#include <bahdanau/score/dot.hpp>

#include "model_of.hpp"

namespace cli {

Combination gru_dot() { return compiled<D2lWith<bd::Gru, bd::Dot>>(); }

}  // namespace cli
