// The model in libtorch, keys projected once: the twin of the Python peer's model.py.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "decoders.hpp"

namespace peer {

class Encoder : public torch::nn::Module {
 public:
  explicit Encoder(const Config& config);
  /// Outputs [batch, steps, width], final state.
  std::pair<Tensor, State> forward(const Rows& source);

 private:
  torch::nn::Embedding embedding_;
  std::shared_ptr<Cells> rnn_;
};

class Model : public torch::nn::Module {
 public:
  /// Reads a model file.
  explicit Model(const std::string& path);

  std::int64_t max_length() const { return max_length_; }
  /// The decoder's first state, and what its steps need.
  std::pair<State, Encoded> encode(const Rows& source);
  Tensor one_step(const Tensor& tokens, State& state, const Encoded& encoded) {
    return decoder_->one_step(tokens, state, encoded);
  }
  /// Teacher-forced: logits [steps * batch, vocabulary], step by step.
  Tensor forward(const Batch& batch);

 private:
  std::int64_t max_length_;
  std::shared_ptr<Encoder> encoder_;
  std::shared_ptr<Decoder> decoder_;
};

}  // namespace peer
