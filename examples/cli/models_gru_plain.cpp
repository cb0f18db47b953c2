// d2l's model without its attention.
#include <bahdanau/cell/gru.hpp>
#include <bahdanau/model/plain.hpp>
#include <bahdanau/score/no_score.hpp>

#include "model_of.hpp"

namespace cli {

Combination gru_plain() { return compiled<D2lWith<bd::Gru, bd::NoScore, bd::Plain>>(); }

}  // namespace cli
