// Papers' models with the cell `Lstm` that attend.
#include <bahdanau/models/gehring.hpp>
#include <bahdanau/models/luong.hpp>

#include "model_of.hpp"

namespace cli {

Combinations papers_lstm() {
  return {compiled<bd::models::Luong<bd::Xtensor<float>>>("luong"),
          compiled<bd::models::Gehring<bd::Xtensor<float>>>("gehring")};
}

}  // namespace cli
