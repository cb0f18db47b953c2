// Models that do not attend: a paper's, and d2l's without its attention.
#include <bahdanau/cell/gru.hpp>
#include <bahdanau/model/fixed_context.hpp>
#include <bahdanau/model/plain.hpp>
#include <bahdanau/models/sutskever.hpp>
#include <bahdanau/score/no_score.hpp>

#include "model_of.hpp"

namespace cli {

Combinations no_attention() {
  return {compiled<bd::models::Sutskever<bd::Xtensor<float>>>("sutskever"),
          compiled<D2lWith<bd::Gru, bd::NoScore, bd::Plain>>(),
          compiled<D2lWith<bd::Gru, bd::NoScore, bd::FixedContext>>()};
}

}  // namespace cli
