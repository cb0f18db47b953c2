// error: bahdanau: to be trained, a model needs parameters(), weights(), Batch, check(batch) and
// objective(tape, batch, rows, dropout); see TrainableModel in train/trainable.hpp
#include <bahdanau/bahdanau.hpp>

namespace bd = bahdanau;

int main() {
  bd::Attention<bd::Additive, bd::Xtensor<float>> attention({.query = 5, .key = 5});
  bd::Trainer(attention, bd::Adam{}).fit(0);
}
