// d2l's models with the cell `Gru` and scores that are products.
#include <bahdanau/cell/gru.hpp>
#include <bahdanau/score/dot.hpp>
#include <bahdanau/score/local.hpp>

#include "model_of.hpp"

namespace cli {

Combinations gru_general() {
  return {compiled<D2lWith<bd::Gru, bd::Dot>>(), compiled<D2lWith<bd::Gru, bd::General>>(),
          compiled<D2lWith<bd::Gru, bd::Local<bd::General, 10>>>()};
}

}  // namespace cli
