// d2l's model.
#include <bahdanau/models/d2l.hpp>

#include "model_of.hpp"

namespace cli {

Combination d2l_gru() { return compiled<bd::models::D2l<bd::Xtensor<float>>>("d2l"); }

}  // namespace cli
