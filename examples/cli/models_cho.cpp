// Cho and others.
#include <bahdanau/models/cho.hpp>

#include "model_of.hpp"

namespace cli {

Combination cho() { return compiled<bd::models::Cho<bd::Xtensor<float>>>("cho"); }

}  // namespace cli
