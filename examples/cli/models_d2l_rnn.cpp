// d2l's model with the cell `Rnn`.
#include <bahdanau/cell/rnn.hpp>
#include <bahdanau/score/additive.hpp>

#include "model_of.hpp"

namespace cli {

Combination d2l_rnn() { return compiled<D2lWith<bd::Rnn, bd::Additive>>(); }

}  // namespace cli
