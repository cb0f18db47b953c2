// d2l's models with the cell `Rnn`.
#include <bahdanau/cell/rnn.hpp>
#include <bahdanau/score/additive.hpp>
#include <bahdanau/score/scaled_dot.hpp>

#include "model_of.hpp"

namespace cli {

Combinations d2l_rnn() {
  return {compiled<D2lWith<bd::Rnn, bd::Additive>>(), compiled<D2lWith<bd::Rnn, bd::ScaledDot>>()};
}

}  // namespace cli
