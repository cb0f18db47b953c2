// One of two files that are the same but for NAME, and for the instruction set that they are compiled for.
#include "logits.hpp"

#include <bahdanau/bahdanau.hpp>

namespace bd = bahdanau;

bd::Array<float, 3> NAME() {
  const bd::Vocabulary words = bd::Vocabulary::numbered(40);
  const bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Xtensor<float>> model(
      {.embed = 24, .hidden = 56, .layers = 1}, {words, words, {}}, /*seed=*/1);
  const bd::Sequences rows(bd::Array<bd::Token, 2>({3, 5}, 7));
  return model.forward({rows, rows}).logits;
}
