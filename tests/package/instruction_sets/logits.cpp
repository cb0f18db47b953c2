// One of two files that are the same but for WHOSE, and for the instructions that they are compiled for.
#include "logits.hpp"

#include <bahdanau/bahdanau.hpp>

namespace bd = bahdanau;

namespace WHOSE {

Model make() {
  const bd::Vocabulary words = bd::Vocabulary::numbered(40);
  return Model({.embed = 24, .hidden = 56, .layers = 1}, {words, words, {}}, /*seed=*/1);
}

bd::Array<float, 3> logits(const Model& model) {
  const bd::Sequences rows(bd::Array<bd::Token, 2>({3, 5}, 7));
  return model.forward({rows, rows}).logits;
}

std::string translation(const Model& model) { return model.translate("5 6 7 8").text; }

}  // namespace WHOSE
