// Decoders, keys projected once: the twin of the Python peer's decoders.py.
#pragma once

#include <utility>

#include "bridges.hpp"
#include "cells.hpp"
#include "readouts.hpp"
#include "scores.hpp"

namespace peer {

/// What every step needs.
struct Encoded {
  Tensor keys, projected, mask;  // [batch, steps, width], [batch, steps, hidden], [batch, steps] or undefined
  Weights weights;
};

/// What all decoders have; one differs from another by its `step`.
class Decoder : public torch::nn::Module {
 public:
  /// The first state, and what the steps need.
  virtual std::pair<State, Encoded> begin(const Tensor& keys, const State& final, const Rows& source);
  /// tokens [rows] -> logits [rows, vocabulary]; moves the state on
  Tensor one_step(const Tensor& tokens, State& state, const Encoded& encoded);
  /// Teacher-forced. inputs [batch, steps] -> logits [steps * batch, vocabulary], step by step
  Tensor forward(const Tensor& inputs, State state, const Encoded& encoded);

 protected:
  /// fed: the width of what the cells read beside the embedding
  Decoder(const Config& config, std::int64_t fed, bool written_out);
  /// product [rows, width] -> what the readout wants to see; moves the state on
  virtual std::vector<Tensor> step(const Tensor& product, State& state, const Encoded& encoded) = 0;
  /// queries [rows, hidden], as many for each sentence -> contexts [rows, width]
  Tensor attend(const Tensor& queries, const Encoded& encoded);

  std::shared_ptr<Cells> rnn_;
  std::shared_ptr<Readout> readout_;

 private:
  std::int64_t fed_;
  double dropout_;
  torch::nn::Embedding embedding_;
  std::shared_ptr<Score> attention_;
  std::shared_ptr<Bridge> bridge_;
  torch::nn::Linear dense_;
};

std::shared_ptr<Decoder> make_decoder(const Config& config);

}  // namespace peer
