// The model in libtorch, keys projected once: the twin of the Python peer's model.py.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <torch/torch.h>

namespace peer {

using torch::Tensor;

inline constexpr std::int64_t bos = 2, eos = 3;

/// Source or target rows, as wide as the longest.
struct Rows {
  Rows(const Tensor& padded, const Tensor& valid);
  Tensor tokens, lengths, mask;  // mask [rows, steps] is undefined if all rows are full
  bool full;
};

struct Batch {
  Batch(Rows from, Rows to);
  Rows source, target;
  Tensor inputs, labels;  // [rows, steps]; labels beyond a row's end are -100
};

std::vector<Batch> read_batches(const std::string& path);

/// The sizes in a model file.
struct Config {
  bool lstm, additive, bidirectional;
  std::int64_t embed, hidden, layers, source_vocabulary, target_vocabulary, max_length;
  double dropout;
};

/// h, and for the LSTM c, each [layers, batch, hidden].
using State = std::vector<Tensor>;

/// nn.GRU or nn.LSTM, whichever the model has.
struct Recurrent : torch::nn::Module {
  Recurrent(const Config& config, std::int64_t inputs, bool bidirectional);
  /// x [steps, batch, inputs]; without a state it starts from 0.
  std::pair<Tensor, State> forward(const Tensor& x, const State& state);
  std::pair<torch::nn::utils::rnn::PackedSequence, State> forward(
      const torch::nn::utils::rnn::PackedSequence& x);
  torch::nn::GRU gru{nullptr};
  torch::nn::LSTM lstm{nullptr};
};

/// What a decoder sees of a source batch.
struct Encoded {
  Tensor keys, projected, mask;  // [batch, steps, width], [batch, steps, hidden], [batch, steps] or undefined
  State state;                   // in which the decoder starts
};

class Model : public torch::nn::Module {
 public:
  /// Reads a model file.
  explicit Model(const std::string& path);

  std::int64_t max_length() const { return config_.max_length; }
  Encoded encode(const Rows& source);
  Tensor embed(const Tensor& tokens) { return target_embedding_(tokens); }
  /// queries [batch, n, hidden] -> contexts [batch, n, width]
  Tensor attend(const Tensor& queries, const Encoded& source);
  /// inputs [batch, width + embed] -> output [batch, hidden]; moves the state on
  Tensor step(const Tensor& inputs, State& state);
  Tensor logits(const Tensor& outputs) { return dense_(outputs); }
  /// Teacher-forced: logits [steps * batch, vocabulary], step by step.
  Tensor forward(const Batch& batch);

 private:
  Tensor project(const Tensor& keys) { return config_.additive ? w_k_(keys) : keys; }
  State first_state(const State& final);
  void load(const std::string& name, const Tensor& value);

  Config config_;
  torch::nn::Embedding source_embedding_{nullptr}, target_embedding_{nullptr};
  std::shared_ptr<Recurrent> encoder_, decoder_;
  torch::nn::Linear w_q_{nullptr}, w_k_{nullptr}, w_v_{nullptr}, dense_{nullptr};
  std::vector<torch::nn::Linear> bridge_h_, bridge_c_;
  std::map<std::string, Tensor> named_;  // by the names in model files
};

}  // namespace peer
