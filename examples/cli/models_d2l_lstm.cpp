// d2l's models with the cell `Lstm`: both of its scores, and a bidirectional encoder.
#include <bahdanau/cell/lstm.hpp>
#include <bahdanau/model/recurrent_encoder.hpp>
#include <bahdanau/score/additive.hpp>
#include <bahdanau/score/scaled_dot.hpp>

#include "model_of.hpp"

namespace cli {

Combinations d2l_lstm() {
  return {compiled<D2lWith<bd::Lstm, bd::Additive>>(),
          compiled<D2lWith<bd::Lstm, bd::Additive, bd::Bidirectional>>(),
          compiled<D2lWith<bd::Lstm, bd::ScaledDot>>()};
}

}  // namespace cli
