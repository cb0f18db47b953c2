// Papers' models with the cell `Gru`.
#include <bahdanau/models/nematus.hpp>

#include "model_of.hpp"

namespace cli {

Combinations papers_gru() { return {compiled<bd::models::Nematus<bd::Xtensor<float>>>("nematus")}; }

}  // namespace cli
