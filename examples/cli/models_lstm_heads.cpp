// d2l's model with the cell `Lstm` and a score with several heads.
#include <bahdanau/cell/lstm.hpp>
#include <bahdanau/score/multi_head.hpp>

#include "model_of.hpp"

namespace cli {

Combination lstm_heads() { return compiled<D2lWith<bd::Lstm, bd::MultiHead<bd::ScaledDot, 4>>>(); }

}  // namespace cli
