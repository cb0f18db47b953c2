// d2l's models with the cell `Gru`: both of its scores, and a bidirectional encoder.
#include <bahdanau/cell/gru.hpp>
#include <bahdanau/model/recurrent_encoder.hpp>
#include <bahdanau/models/d2l.hpp>
#include <bahdanau/score/additive.hpp>
#include <bahdanau/score/scaled_dot.hpp>

#include "model_of.hpp"

namespace cli {

Combinations d2l_gru() {
  return {compiled<bd::models::D2l<bd::Xtensor<float>>>("d2l"),
          compiled<D2lWith<bd::Gru, bd::Additive, bd::Bidirectional>>(),
          compiled<D2lWith<bd::Gru, bd::ScaledDot>>()};
}

}  // namespace cli
