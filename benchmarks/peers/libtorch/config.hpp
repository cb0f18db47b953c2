// What a model file says of its model: the parts by name, and the sizes.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

#include <torch/torch.h>

namespace peer {

struct Config {
  std::string cell, score, encoder, bridge, decoder, readout;
  std::int64_t embed, hidden, layers, source_vocabulary, target_vocabulary, max_length;
  double dropout;

  bool bidirectional() const { return encoder == "bidirectional"; }
  std::int64_t key_width() const { return hidden * (bidirectional() ? 2 : 1); }
};

[[noreturn]] inline void unknown(const std::string& kind, const std::string& name) {
  throw std::runtime_error("the peer has no " + kind + " " + name);
}

/// A linear layer that is a part of `parent`.
inline torch::nn::Linear add_linear(torch::nn::Module& parent, const std::string& name, std::int64_t in,
                                    std::int64_t out, bool bias) {
  return parent.register_module(name, torch::nn::Linear(torch::nn::LinearOptions(in, out).bias(bias)));
}

}  // namespace peer
