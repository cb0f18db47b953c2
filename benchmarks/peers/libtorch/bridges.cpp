#include "bridges.hpp"

namespace peer {
namespace {

using torch::indexing::None;
using torch::indexing::Slice;

/// One direction: nothing to do.
struct NoBridge : Bridge {
  State forward(const State& final) override { return final; }
};

/// h_l = tanh(B_l [forward_l ; backward_l] + b_l), and for the LSTM c_l = C_l [forward_l ; backward_l] + d_l
struct Both : Bridge {
  explicit Both(const Config& config, std::int64_t directions = 2) {
    for (const std::string part : {"h", "c"}) {
      if (part == "c" && config.cell != "lstm") break;
      auto layers = register_module(part, torch::nn::ModuleList());
      for (std::int64_t l = 0; l < config.layers; ++l)
        layers->push_back(torch::nn::Linear(directions * config.hidden, config.hidden));
      parts.push_back(layers);
    }
  }
  virtual Tensor read(const Tensor& states) {
    return torch::cat({states.index({Slice(0, None, 2)}), states.index({Slice(1, None, 2)})}, -1);
  }
  State forward(const State& final) override {
    State folded;
    for (std::size_t part = 0; part < final.size(); ++part) {
      const auto states = read(final[part]).unbind();
      std::vector<Tensor> layers;
      for (std::size_t l = 0; l < states.size(); ++l)
        layers.push_back(parts[part]->at<torch::nn::LinearImpl>(l).forward(states[l]));
      const Tensor stacked = torch::stack(layers);
      folded.push_back(part == 0 ? torch::tanh(stacked) : stacked);
    }
    return folded;
  }
  std::vector<torch::nn::ModuleList> parts;  // h, and for the LSTM c
};

/// The same from the backward states alone.
struct Backward : Both {
  explicit Backward(const Config& config) : Both(config, 1) {}
  Tensor read(const Tensor& states) override { return states.index({Slice(1, None, 2)}); }
};

}  // namespace

std::shared_ptr<Bridge> make_bridge(const Config& config) {
  if (!config.bidirectional()) return std::make_shared<NoBridge>();
  if (config.bridge == "both") return std::make_shared<Both>(config);
  if (config.bridge == "backward") return std::make_shared<Backward>(config);
  unknown("bridge", config.bridge);
}

}  // namespace peer
