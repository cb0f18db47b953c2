// d2l's model with one context for all steps.
#include <bahdanau/cell/gru.hpp>
#include <bahdanau/model/fixed_context.hpp>
#include <bahdanau/score/no_score.hpp>

#include "model_of.hpp"

namespace cli {

Combination gru_fixed_context() { return compiled<D2lWith<bd::Gru, bd::NoScore, bd::FixedContext>>(); }

}  // namespace cli
