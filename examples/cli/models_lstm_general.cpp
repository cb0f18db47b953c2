// d2l's model with the cell `Lstm` and the score `General`.
#include <bahdanau/cell/lstm.hpp>
#include <bahdanau/score/dot.hpp>

#include "model_of.hpp"

namespace cli {

Combination lstm_general() { return compiled<D2lWith<bd::Lstm, bd::General>>(); }

}  // namespace cli
