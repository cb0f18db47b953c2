// The model of the paper `luong`.
#include <bahdanau/models/luong.hpp>

#include "model_of.hpp"

namespace cli {

Combinations luong() { return {compiled<bd::models::Luong<bd::Xtensor<float>>>("luong")}; }

}  // namespace cli
