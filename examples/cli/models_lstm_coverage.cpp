// d2l's model with the cell `Lstm` and a score that has a memory.
#include <bahdanau/cell/lstm.hpp>
#include <bahdanau/score/coverage.hpp>

#include "model_of.hpp"

namespace cli {

Combination lstm_coverage() { return compiled<D2lWith<bd::Lstm, bd::Coverage<bd::Additive>>>(); }

}  // namespace cli
