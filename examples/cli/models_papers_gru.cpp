// Papers' models with the cell `Gru`, and d2l's without attention.
#include <bahdanau/cell/gru.hpp>
#include <bahdanau/model/fixed_context.hpp>
#include <bahdanau/model/plain.hpp>
#include <bahdanau/models/nematus.hpp>
#include <bahdanau/score/no_score.hpp>

#include "model_of.hpp"

namespace cli {

Combinations papers_gru() {
  return {compiled<bd::models::Nematus<bd::Xtensor<float>>>("nematus"),
          compiled<D2lWith<bd::Gru, bd::NoScore, bd::Plain>>(),
          compiled<D2lWith<bd::Gru, bd::NoScore, bd::FixedContext>>()};
}

}  // namespace cli
