// The batches that our program wrote, as tensors: the twin of the Python peer's batches.py.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <torch/torch.h>

#include <bahdanau/io/safetensors.hpp>

namespace peer {

using torch::Tensor;

inline constexpr std::int64_t bos = 2, eos = 3;

template <class T>
Tensor read_tensor(const bahdanau::SafetensorsFile& file, const std::string& name) {
  const auto numbers = file.read<T>(name);
  const auto& shape = file.tensors().find(name)->second.shape;
  const std::vector<std::int64_t> extents(shape.begin(), shape.end());
  return torch::tensor(at::ArrayRef<T>(numbers)).reshape(extents);
}

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

}  // namespace peer
