// d2l's model with the cell `Lstm`.
#include <bahdanau/cell/lstm.hpp>
#include <bahdanau/score/additive.hpp>

#include "model_of.hpp"

namespace cli {

Combination d2l_lstm() { return compiled<D2lWith<bd::Lstm, bd::Additive>>(); }

}  // namespace cli
