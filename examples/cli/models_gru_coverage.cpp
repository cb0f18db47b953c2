// d2l's model with the cell `Gru` and a score that has a memory.
#include <bahdanau/cell/gru.hpp>
#include <bahdanau/score/coverage.hpp>

#include "model_of.hpp"

namespace cli {

Combination gru_coverage() { return compiled<D2lWith<bd::Gru, bd::Coverage<bd::Additive>>>(); }

}  // namespace cli
