// Luong, Pham and Manning.
#include <bahdanau/models/luong.hpp>

#include "model_of.hpp"

namespace cli {

Combination luong() { return compiled<bd::models::Luong<bd::Xtensor<float>>>("luong"); }

}  // namespace cli
