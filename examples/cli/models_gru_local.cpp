// d2l's model with the cell `Gru` and a score that looks at a window.
#include <bahdanau/cell/gru.hpp>
#include <bahdanau/score/dot.hpp>
#include <bahdanau/score/local.hpp>

#include "model_of.hpp"

namespace cli {

Combination gru_local() { return compiled<D2lWith<bd::Gru, bd::Local<bd::General, 10>>>(); }

}  // namespace cli
