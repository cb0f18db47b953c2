// error: bahdanau: an Attention needs a score and a backend; use Additive, ScaledDot, Dot or General
// (score/score.hpp), and Xtensor<float> or Xtensor<double>
#include <bahdanau/bahdanau.hpp>

namespace bd = bahdanau;

int main() { bd::Attention<bd::Gru, bd::Xtensor<float>> attention({.query = 5, .key = 5}); }
