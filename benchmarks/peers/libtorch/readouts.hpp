// From what a decoder's steps have seen to what its dense layer reads: the twin of readouts.py.
#pragma once

#include <vector>

#include "config.hpp"

namespace peer {

using torch::Tensor;

struct Readout : torch::nn::Module {
  explicit Readout(std::int64_t out) : width(out) {}
  /// Of a step's arrays, each [batch, width], those that `forward` wants.
  virtual std::vector<Tensor> seen(const Tensor& after, const Tensor& context, const Tensor& before) = 0;
  /// embedded [..., embed], seen [..., width] -> [..., width]
  virtual Tensor forward(const Tensor& embedded, const std::vector<Tensor>& seen) = 0;
  std::int64_t width;
};

/// By its name in a model file: `linear`, `deep(500)`.
std::shared_ptr<Readout> make_readout(const Config& config);

}  // namespace peer
