// d2l's models with the cell `Lstm` and scores that are products.
#include <bahdanau/cell/lstm.hpp>
#include <bahdanau/score/dot.hpp>
#include <bahdanau/score/local.hpp>

#include "model_of.hpp"

namespace cli {

Combinations lstm_general() {
  return {compiled<D2lWith<bd::Lstm, bd::Dot>>(), compiled<D2lWith<bd::Lstm, bd::General>>(),
          compiled<D2lWith<bd::Lstm, bd::Local<bd::General, 10>>>()};
}

}  // namespace cli
