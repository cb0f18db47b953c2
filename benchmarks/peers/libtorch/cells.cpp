#include "cells.hpp"

namespace peer {
namespace {

namespace nn = torch::nn;
using nn::utils::rnn::PackedSequence;

/// What nn has: packed in an encoder, called with sequences of one step by a decoder.
class LayersOfNn : public Cells {
 public:
  std::pair<Tensor, State> encode(const Tensor& inputs, const Rows& source) override {
    if (source.full) return run(inputs, {});
    namespace rnn = nn::utils::rnn;
    auto [packed, final] =
        run_packed(rnn::pack_padded_sequence(inputs, source.lengths, false, /*enforce_sorted=*/false));
    return {std::get<0>(rnn::pad_packed_sequence(packed)), final};
  }
  State start(const State& final) override { return final; }
  Weights weights(std::int64_t) override { return {}; }
  Tensor products(const Tensor& embedded, const Weights&) override { return embedded; }
  Tensor step(const Tensor& context, const Tensor& product, State& state, const Weights&) override {
    auto [outputs, next] = run(torch::cat({context, product}, -1).unsqueeze(0), state);
    state = std::move(next);
    return outputs[0];
  }
  Tensor top(const State& state) override { return state[0][-1]; }

 private:
  /// Without a state from 0.
  virtual std::pair<Tensor, State> run(const Tensor& inputs, const State& state) = 0;
  virtual std::pair<PackedSequence, State> run_packed(const PackedSequence& inputs) = 0;
};

struct Gru : nn::GRUImpl, LayersOfNn {
  using nn::GRUImpl::GRUImpl;
  std::pair<Tensor, State> run(const Tensor& inputs, const State& state) override {
    auto [outputs, h] = state.empty() ? forward(inputs) : forward(inputs, state[0]);
    return {outputs, {h}};
  }
  std::pair<PackedSequence, State> run_packed(const PackedSequence& inputs) override {
    auto [outputs, h] = forward_with_packed_input(inputs);
    return {outputs, {h}};
  }
};

struct Lstm : nn::LSTMImpl, LayersOfNn {
  using nn::LSTMImpl::LSTMImpl;
  std::pair<Tensor, State> run(const Tensor& inputs, const State& state) override {
    auto [outputs, next] =
        state.empty() ? forward(inputs) : forward(inputs, std::tuple<Tensor, Tensor>(state[0], state[1]));
    return {outputs, {std::get<0>(next), std::get<1>(next)}};
  }
  std::pair<PackedSequence, State> run_packed(const PackedSequence& inputs) override {
    auto [outputs, next] = forward_with_packed_input(inputs);
    return {outputs, {std::get<0>(next), std::get<1>(next)}};
  }
};

/// Steps of a few operations: products with embeddings leave the loop; a state has one tensor for each
/// part and layer, the parts of a layer side by side.
class WrittenOut : public nn::Module, public Cells {
 public:
  WrittenOut(const Config& config, std::int64_t inputs, bool bidirectional, std::int64_t gates)
      : hidden_(config.hidden), dropout_(config.dropout), directions_(bidirectional ? 2 : 1) {
    for (std::int64_t l = 0; l < config.layers; ++l)
      for (std::int64_t d = 0; d < directions_; ++d) {
        const std::string suffix = "_l" + std::to_string(l) + (d == 0 ? "" : "_reverse");
        const std::int64_t rows = gates * hidden_, columns = l == 0 ? inputs : directions_ * hidden_;
        parameters_.push_back({register_parameter("weight_ih" + suffix, torch::empty({rows, columns})),
                               register_parameter("weight_hh" + suffix, torch::empty({rows, hidden_})),
                               register_parameter("bias_ih" + suffix, torch::empty(rows)),
                               register_parameter("bias_hh" + suffix, torch::empty(rows))});
      }
  }

  Weights weights(std::int64_t context_width) override {
    Weights weights;
    for (const Parameters& p : parameters_) {
      Tensor w_ih = p.w_ih;
      const Tensor bias = p.b_ih + p.b_hh;
      if (weights.layers.empty()) {
        const auto parts = w_ih.split_with_sizes({context_width, w_ih.size(1) - context_width}, 1);
        w_ih = parts[0];
        weights.embedded = parts[1];
        weights.bias = bias;
      }
      weights.layers.push_back(layer_weights(w_ih, p.w_hh));
      weights.layers.back().insert(weights.layers.back().begin(), bias);
    }
    return weights;
  }

  Tensor products(const Tensor& embedded, const Weights& weights) override {
    return torch::linear(embedded, weights.embedded, weights.bias);
  }

  Tensor step(const Tensor& context, const Tensor& product, State& state, const Weights& weights) override {
    const std::size_t parts = state.size() / weights.layers.size();
    Tensor x = context;
    for (std::size_t l = 0; l < weights.layers.size(); ++l) {
      if (l > 0) x = dropped(x);
      layer_step(x, l == 0 ? product : weights.layers[l][0], &state[l * parts], weights.layers[l]);
      x = state[l * parts];
    }
    return x;
  }

 protected:
  struct Parameters {
    Tensor w_ih, w_hh, b_ih, b_hh;
  };

  /// What layer_step needs of them.
  virtual std::vector<Tensor> layer_weights(const Tensor& w_ih, const Tensor& w_hh) = 0;
  /// x [batch, width]; moves the layer's parts of the state on, the first of which is h
  virtual void layer_step(const Tensor& x, const Tensor& product, Tensor* state,
                          const std::vector<Tensor>& weights) = 0;
  Tensor dropped(const Tensor& x) { return torch::dropout(x, dropout_, is_training()); }

  std::int64_t hidden_;
  double dropout_;
  std::int64_t directions_;
  std::vector<Parameters> parameters_;  // layer by layer, in each forward and backward
};

/// For decoders: c' = f c + i g, h' = o tanh(c'), with one matrix product a layer and step.
class LstmWrittenOut : public WrittenOut {
 public:
  LstmWrittenOut(const Config& config, std::int64_t inputs) : WrittenOut(config, inputs, false, 4) {}
  std::pair<Tensor, State> encode(const Tensor&, const Rows&) override {
    throw std::logic_error("a decoder's LSTM cannot encode");
  }
  State start(const State& final) override {
    State state;
    for (std::int64_t l = 0; l < final[0].size(0); ++l)
      for (const Tensor& part : final) state.push_back(part[l]);
    return state;
  }
  Tensor top(const State& state) override { return state[state.size() - 2]; }

 private:
  std::vector<Tensor> layer_weights(const Tensor& w_ih, const Tensor& w_hh) override {
    return {torch::cat({w_ih, w_hh}, 1).t()};
  }
  void layer_step(const Tensor& x, const Tensor& product, Tensor* state,
                  const std::vector<Tensor>& weights) override {
    Tensor &h = state[0], &c = state[1];
    const auto gates = torch::addmm(product, torch::cat({x, h}, -1), weights[1]).chunk(4, -1);
    const Tensor i = torch::sigmoid(gates[0]), f = torch::sigmoid(gates[1]), g = torch::tanh(gates[2]);
    c = f * c + i * g;
    h = torch::sigmoid(gates[3]) * torch::tanh(c);
  }
};

/// As nn::GRU, but n = tanh(W_in x + b_in + W_hn (r h) + b_hn), which nn does not have.
class GruResetBefore : public WrittenOut {
 public:
  GruResetBefore(const Config& config, std::int64_t inputs, bool bidirectional)
      : WrittenOut(config, inputs, bidirectional, 3) {}

  std::pair<Tensor, State> encode(const Tensor& inputs, const Rows& source) override {
    Tensor x = inputs;
    std::vector<Tensor> outputs, final;
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      const bool backward = directions_ == 2 && i % 2 == 1;
      auto [output, last] = run(x, parameters_[i], source, backward);
      outputs.push_back(output);
      final.push_back(last);
      if (static_cast<std::int64_t>(outputs.size()) < directions_) continue;
      x = torch::cat(outputs, -1);
      outputs.clear();
      if (i + 1 < parameters_.size()) x = dropped(x);
    }
    return {x, {torch::stack(final)}};
  }
  State start(const State& final) override { return final[0].unbind(); }
  Tensor top(const State& state) override { return state.back(); }

 private:
  std::vector<Tensor> layer_weights(const Tensor& w_ih, const Tensor& w_hh) override {
    const auto w = w_hh.split_with_sizes({2 * hidden_, hidden_});
    return {w_ih.t(), w[0].t(), w[1].t()};
  }
  void layer_step(const Tensor& x, const Tensor& product, Tensor* state,
                  const std::vector<Tensor>& weights) override {
    const auto parts = split(torch::addmm(product, x, weights[1]));
    state[0] = gates(parts[0], parts[1], state[0], weights[2], weights[3]);
  }

  /// [..., 3 * hidden] -> of r and z, of n
  std::vector<Tensor> split(const Tensor& products) {
    return products.split_with_sizes({2 * hidden_, hidden_}, -1);
  }

  /// (1 - z) n + z h
  static Tensor gates(const Tensor& x_rz, const Tensor& x_n, const Tensor& h, const Tensor& w_rz,
                      const Tensor& w_n) {
    const auto rz = torch::sigmoid(torch::addmm(x_rz, h, w_rz)).chunk(2, -1);
    return torch::lerp(torch::tanh(torch::addmm(x_n, rz[0] * h, w_n)), h, rz[1]);
  }

  /// One direction of one layer. -> outputs [steps, batch, hidden], h after the last step
  std::pair<Tensor, Tensor> run(const Tensor& inputs, const Parameters& p, const Rows& source,
                                bool backward) {
    const auto parts = split(torch::linear(inputs, p.w_ih, p.b_ih + p.b_hh));
    const auto x_rz = parts[0].unbind(), x_n = parts[1].unbind();
    const auto w = layer_weights(p.w_ih, p.w_hh);
    Tensor h = torch::zeros({inputs.size(1), hidden_});
    std::vector<Tensor> outputs(x_n.size());
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const std::size_t t = backward ? outputs.size() - 1 - i : i;
      const Tensor after = gates(x_rz[t], x_n[t], h, w[1], w[2]);
      h = source.full
              ? after
              : torch::where(source.mask.select(1, static_cast<std::int64_t>(t)).unsqueeze(1), h, after);
      outputs[t] = h;
    }
    return {torch::stack(outputs), h};
  }
};

template <class Layer, class Options>
std::shared_ptr<Cells> add_layer(nn::Module& parent, const Config& config, std::int64_t inputs,
                                 bool bidirectional) {
  return parent.register_module("rnn", std::make_shared<Layer>(Options(inputs, config.hidden)
                                                                   .num_layers(config.layers)
                                                                   .dropout(config.dropout)
                                                                   .bidirectional(bidirectional)));
}

std::shared_ptr<Cells> add_cells(nn::Module& parent, const Config& config, std::int64_t inputs,
                                 bool bidirectional) {
  if (config.cell == "gru") return add_layer<Gru, nn::GRUOptions>(parent, config, inputs, bidirectional);
  if (config.cell == "lstm") return add_layer<Lstm, nn::LSTMOptions>(parent, config, inputs, bidirectional);
  if (config.cell == "gru_reset_before")
    return parent.register_module("rnn", std::make_shared<GruResetBefore>(config, inputs, bidirectional));
  unknown("cell", config.cell);
}

}  // namespace

std::shared_ptr<Cells> add_encoder_cells(nn::Module& parent, const Config& config) {
  return add_cells(parent, config, config.embed, config.bidirectional());
}

std::shared_ptr<Cells> add_decoder_cells(nn::Module& parent, const Config& config, std::int64_t inputs,
                                         bool written_out) {
  if (written_out && config.cell == "lstm")
    return parent.register_module("rnn", std::make_shared<LstmWrittenOut>(config, inputs));
  return add_cells(parent, config, inputs, false);
}

}  // namespace peer
