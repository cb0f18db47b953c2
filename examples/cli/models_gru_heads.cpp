// d2l's models with the cell `Gru` and scores that have a memory, or several heads.
#include <bahdanau/cell/gru.hpp>
#include <bahdanau/score/coverage.hpp>
#include <bahdanau/score/multi_head.hpp>

#include "model_of.hpp"

namespace cli {

Combinations gru_heads() {
  return {compiled<D2lWith<bd::Gru, bd::Coverage<bd::Additive>>>(),
          compiled<D2lWith<bd::Gru, bd::MultiHead<bd::ScaledDot, 4>>>()};
}

}  // namespace cli
