// Reads a .safetensors file into tensors; just what the peer needs.
#pragma once

#include <map>
#include <string>

#include <nlohmann/json.hpp>
#include <torch/torch.h>

namespace peer {

struct File {
  std::map<std::string, torch::Tensor> tensors;
  std::map<std::string, nlohmann::json> metadata;  // parsed
};

File read_safetensors(const std::string& path);

}  // namespace peer
