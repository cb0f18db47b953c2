// The model of the paper `rnnsearch`.
#include <bahdanau/models/rnn_search.hpp>

#include "model_of.hpp"

namespace cli {

Combinations rnnsearch() { return {compiled<bd::models::RnnSearch<bd::Xtensor<float>>>("rnnsearch")}; }

}  // namespace cli
