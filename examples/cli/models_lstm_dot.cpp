// d2l's model with the cell `Lstm` and the score `Dot`.
#include <bahdanau/cell/lstm.hpp>
#include <bahdanau/score/dot.hpp>

#include "model_of.hpp"

namespace cli {

Combination lstm_dot() { return compiled<D2lWith<bd::Lstm, bd::Dot>>(); }

}  // namespace cli
