// Stacked cells, with the parameters of nn::GRU and nn::LSTM: the twin of the Python peer's cells.py.
#pragma once

#include <utility>
#include <vector>

#include "batches.hpp"
#include "config.hpp"

namespace peer {

/// Tensors [..., rows, width]. An encoder's final state is h, and for the LSTM c, each [layers * directions,
/// batch, hidden].
using State = std::vector<Tensor>;

/// Weights as the steps of a decoder need them, made once per batch; nn's layers need none.
struct Weights {
  Tensor embedded, bias;                    // of the first layer's embeddings
  std::vector<std::vector<Tensor>> layers;  // the bias first, then what the cell's step reads
};

class Cells {
 public:
  virtual ~Cells() = default;
  /// inputs [steps, batch, width] -> outputs [steps, batch, hidden * directions], final state
  virtual std::pair<Tensor, State> encode(const Tensor& inputs, const Rows& source) = 0;
  /// The state of a decoder, in the form in which its steps have it.
  virtual State start(const State& final) = 0;
  virtual Weights weights(std::int64_t context_width) = 0;
  /// Of all steps what needs no step before it. embedded [..., embed] -> [..., width]
  virtual Tensor products(const Tensor& embedded, const Weights& weights) = 0;
  /// context [batch, width], product [batch, width] -> output [batch, hidden]; moves the state on
  virtual Tensor step(const Tensor& context, const Tensor& product, State& state, const Weights& weights) = 0;
  virtual Tensor top(const State& state) = 0;  // [batch, hidden]
};

/// As part `rnn` of a module.
std::shared_ptr<Cells> add_encoder_cells(torch::nn::Module& parent, const Config& config);
/// The same; written_out: an LSTM of a few operations, faster than nn's with one step per call.
std::shared_ptr<Cells> add_decoder_cells(torch::nn::Module& parent, const Config& config, std::int64_t inputs,
                                         bool written_out);

}  // namespace peer
