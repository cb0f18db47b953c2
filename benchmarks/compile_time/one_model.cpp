// What compile_time.sh compiles: one model, one forward pass, one training step.
#include <cstdio>

#include <bahdanau/bahdanau.hpp>

namespace bd = bahdanau;

int main() {
  bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Xtensor<float>> model(
      {.embed = 32, .hidden = 32, .layers = 2},
      {bd::Vocabulary::numbered(200), bd::Vocabulary::numbered(200), {.max_length = 10}}, /*seed=*/1);
  const std::vector<std::vector<bd::Token>> rows{{4, 5, 6, 3}, {7, 8, 3}};
  const bd::Batch batch{bd::Sequences::from_rows(rows), bd::Sequences::from_rows(rows)};
  const auto decoded = model.forward(batch);
  bd::Training training(model, bd::Adam{.rate = 0.005}, {.clip = 1});
  const bd::Loss loss = training.loss(batch);
  training.backward();
  std::printf("%g nats per token, gradient of norm %g, first logit %g\n", loss.nats_per_token(),
              training.step(), static_cast<double>(decoded.logits(0, 0, 0)));
}
