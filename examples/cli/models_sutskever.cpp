// Sutskever, Vinyals and Le.
#include <bahdanau/models/sutskever.hpp>

#include "model_of.hpp"

namespace cli {

Combination sutskever() { return compiled<bd::models::Sutskever<bd::Xtensor<float>>>("sutskever"); }

}  // namespace cli
