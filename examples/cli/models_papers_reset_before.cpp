// Papers' models with the cell `GruResetBefore`.
#include <bahdanau/models/cho.hpp>
#include <bahdanau/models/rnn_search.hpp>

#include "model_of.hpp"

namespace cli {

Combinations papers_reset_before() {
  return {compiled<bd::models::RnnSearch<bd::Xtensor<float>>>("rnnsearch"),
          compiled<bd::models::Cho<bd::Xtensor<float>>>("cho")};
}

}  // namespace cli
