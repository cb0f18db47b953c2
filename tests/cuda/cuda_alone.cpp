// A model that is trained and translates on CUDA alone: whatever it needs, OpenBLAS is not among it.
#include <bahdanau/backend/thrust.hpp>
#include <bahdanau/cell/gru.hpp>
#include <bahdanau/encoder_decoder.hpp>
#include <bahdanau/score/additive.hpp>
#include <bahdanau/train/training.hpp>

namespace bd = bahdanau;

int main() {
  if (!bd::Thrust<float>::available()) return 0;
  bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Thrust<float>> model(
      {}, {bd::Vocabulary::numbered(10), bd::Vocabulary::numbered(10), {}});
  const std::vector<std::vector<bd::Token>> rows{{4, 5, 3}, {6, 3}};
  bd::Training training(model, bd::Adam{});
  training.loss({bd::Sequences::from_rows(rows), bd::Sequences::from_rows(rows)});
  training.backward();
  training.step();
  return model.translate("4 5").text.empty() ? 1 : 0;
}
