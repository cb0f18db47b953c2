// error: bahdanau: to be trained, a model needs parameters(), weights(), Batch, check(batch) and
// objective(tape, batch, rows, dropout); see TrainableModel in train/trainable.hpp
#include <bahdanau/bahdanau.hpp>

namespace bd = bahdanau;

struct Perceptron : bd::Parameterized<bd::Xtensor<float>> {};

int main() {
  Perceptron model;
  bd::Training training(model);
}
