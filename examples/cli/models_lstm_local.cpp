// d2l's model with the cell `Lstm` and a score that looks at a window.
#include <bahdanau/cell/lstm.hpp>
#include <bahdanau/score/dot.hpp>
#include <bahdanau/score/local.hpp>

#include "model_of.hpp"

namespace cli {

Combination lstm_local() { return compiled<D2lWith<bd::Lstm, bd::Local<bd::General, 10>>>(); }

}  // namespace cli
