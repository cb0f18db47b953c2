// error: bahdanau: LayerNorm<Cell> needs a cell whose gates can be computed from W_ih x + b_ih and W_hh h +
// b_hh alone, by combine(x, u, state); use LayerNorm<Gru>, LayerNorm<Lstm> or LayerNorm<Rnn>, or write
// combine as they do (cell/layer_norm.hpp)
#include <bahdanau/bahdanau.hpp>

namespace bd = bahdanau;

using Model = bd::EncoderDecoder<bd::LayerNorm<bd::GruResetBefore>, bd::Additive, bd::Xtensor<float>>;

int main() {
  Model model({.embed = 8, .hidden = 16}, {bd::Vocabulary::numbered(10), bd::Vocabulary::numbered(10), {}});
}
