// error: bahdanau: variables of different backends do not mix; build the whole model with one backend, and
// move arrays with value() and leaf()
#include <bahdanau/bahdanau.hpp>

namespace bd = bahdanau;

int main() {
  bd::Tape<bd::Xtensor<float>> floats;
  bd::Tape<bd::Xtensor<double>> doubles;
  floats.zeros({2, 3}) + doubles.zeros({2, 3});
}
