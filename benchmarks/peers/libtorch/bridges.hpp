// From the final states of an encoder with two directions to the decoder's first one: the twin of bridges.py.
#pragma once

#include "cells.hpp"

namespace peer {

struct Bridge : torch::nn::Module {
  /// final [layers * directions, batch, hidden] -> [layers, batch, hidden], h and for the LSTM c
  virtual State forward(const State& final) = 0;
};

std::shared_ptr<Bridge> make_bridge(const Config& config);

}  // namespace peer
