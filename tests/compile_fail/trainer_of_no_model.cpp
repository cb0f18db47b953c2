// error: bahdanau: to be trained, a model needs parameters(), weights(), Batch, check(batch) and
// objective(tape, batch, rows, dropout); see TrainableModel in train/trainable.hpp
#include <bahdanau/bahdanau.hpp>

namespace bd = bahdanau;

class Parameters : public bd::Parameterized<bd::Xtensor<float>> {
};  // and no rule of how a batch becomes a loss

int main() {
  Parameters parameters;
  bd::Trainer(parameters, bd::Adam{}).fit(0);
}
