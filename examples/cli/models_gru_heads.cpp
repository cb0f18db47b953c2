// d2l's model with the cell `Gru` and a score with several heads.
#include <bahdanau/cell/gru.hpp>
#include <bahdanau/score/multi_head.hpp>

#include "model_of.hpp"

namespace cli {

Combination gru_heads() { return compiled<D2lWith<bd::Gru, bd::MultiHead<bd::ScaledDot, 4>>>(); }

}  // namespace cli
