// Bahdanau, Cho and Bengio.
#include <bahdanau/models/rnn_search.hpp>

#include "model_of.hpp"

namespace cli {

Combination rnnsearch() { return compiled<bd::models::RnnSearch<bd::Xtensor<float>>>("rnnsearch"); }

}  // namespace cli
