// Gehring and others.
#include <bahdanau/models/gehring.hpp>

#include "model_of.hpp"

namespace cli {

Combination gehring() { return compiled<bd::models::Gehring<bd::Xtensor<float>>>("gehring"); }

}  // namespace cli
