// How a query meets the keys: the twin of the Python peer's scores.py.
#pragma once

#include "config.hpp"

namespace peer {

using torch::Tensor;

struct Score : torch::nn::Module {
  /// What depends on the keys alone. keys [batch, steps, width] -> [batch, steps, hidden]
  virtual Tensor project(const Tensor& keys) = 0;
  /// queries [batch, n, hidden] -> [batch, n, steps]
  virtual Tensor scores(const Tensor& queries, const Tensor& projected) = 0;
};

std::shared_ptr<Score> make_score(const Config& config);

}  // namespace peer
