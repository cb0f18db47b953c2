// d2l's models with the cell `Lstm` and scores that have a memory, or several heads.
#include <bahdanau/cell/lstm.hpp>
#include <bahdanau/score/coverage.hpp>
#include <bahdanau/score/multi_head.hpp>

#include "model_of.hpp"

namespace cli {

Combinations lstm_heads() {
  return {compiled<D2lWith<bd::Lstm, bd::Coverage<bd::Additive>>>(),
          compiled<D2lWith<bd::Lstm, bd::MultiHead<bd::ScaledDot, 4>>>()};
}

}  // namespace cli
