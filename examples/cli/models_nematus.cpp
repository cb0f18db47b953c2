// Nematus.
#include <bahdanau/models/nematus.hpp>

#include "model_of.hpp"

namespace cli {

Combination nematus() { return compiled<bd::models::Nematus<bd::Xtensor<float>>>("nematus"); }

}  // namespace cli
