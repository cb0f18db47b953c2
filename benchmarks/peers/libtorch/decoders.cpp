#include "decoders.hpp"

namespace peer {

Decoder::Decoder(const Config& config, std::int64_t fed, bool written_out)
    : rnn_(add_decoder_cells(*this, config, fed + config.embed, written_out)),
      readout_(register_module("readout", make_readout(config))),
      fed_(fed),
      dropout_(config.dropout),
      embedding_(register_module("embedding", torch::nn::Embedding(config.target_vocabulary, config.embed))),
      attention_(register_module("attention", make_score(config))),
      bridge_(register_module("bridge", make_bridge(config))),
      dense_(add_linear(*this, "dense", readout_->width, config.target_vocabulary, true)) {}

std::pair<State, Encoded> Decoder::begin(const Tensor& keys, const State& final, const Rows& source) {
  return {rnn_->start(bridge_->forward(final)),
          {keys, attention_->project(keys), source.mask, rnn_->weights(fed_)}};
}

Tensor Decoder::attend(const Tensor& queries, const Encoded& encoded) {
  Tensor scores =
      attention_->scores(queries.view({encoded.keys.size(0), -1, queries.size(-1)}), encoded.projected);
  if (encoded.mask.defined()) scores = scores.masked_fill(encoded.mask.unsqueeze(1), -1e6);
  const Tensor weights = torch::dropout(torch::softmax(scores, -1), dropout_, is_training());
  return torch::bmm(weights, encoded.keys).flatten(0, 1);
}

Tensor Decoder::one_step(const Tensor& tokens, State& state, const Encoded& encoded) {
  const Tensor embedded = embedding_(tokens);
  return dense_(readout_->forward(embedded, step(rnn_->products(embedded, encoded.weights), state, encoded)));
}

Tensor Decoder::forward(const Tensor& inputs, State state, const Encoded& encoded) {
  const Tensor embedded = embedding_(inputs.t());  // [steps, batch, embed]
  std::vector<std::vector<Tensor>> seen;           // [what][step]
  for (const Tensor& product : rnn_->products(embedded, encoded.weights).unbind()) {
    const auto now = step(product, state, encoded);
    seen.resize(now.size());
    for (std::size_t i = 0; i < now.size(); ++i) seen[i].push_back(now[i]);
  }
  std::vector<Tensor> all;
  for (const auto& steps : seen) all.push_back(torch::cat(steps));
  return dense_(readout_->forward(embedded.flatten(0, 1), all));
}

namespace {

/// d2l's: the query is the state before the step, the cells read [context ; embedded].
struct AttendThenStep : Decoder {
  explicit AttendThenStep(const Config& config) : Decoder(config, config.key_width(), false) {}
  std::vector<Tensor> step(const Tensor& product, State& state, const Encoded& encoded) override {
    const Tensor before = rnn_->top(state), context = attend(before, encoded);
    const Tensor after = rnn_->step(context, product, state, encoded.weights);
    return readout_->seen(after, context, before);
  }
};

/// Luong's: the cells read [a ; embedded]; the query is the state s after the step, and a = tanh(W_c [context
/// ; s]), the last tensor of the state.
struct InputFeeding : Decoder {
  explicit InputFeeding(const Config& c)
      : Decoder(c, c.hidden, true),
        combine(add_linear(*this, "combine", c.key_width() + c.hidden, c.hidden, false)) {}
  std::pair<State, Encoded> begin(const Tensor& keys, const State& final, const Rows& source) override {
    auto [state, encoded] = Decoder::begin(keys, final, source);
    state.push_back(torch::zeros({keys.size(0), combine->options.out_features()}));
    return {state, encoded};
  }
  std::vector<Tensor> step(const Tensor& product, State& state, const Encoded& encoded) override {
    const Tensor fed = state.back();
    state.pop_back();
    const Tensor s = rnn_->step(fed, product, state, encoded.weights), context = attend(s, encoded);
    state.push_back(torch::tanh(combine(torch::cat({context, s}, -1))));
    return readout_->seen(state.back(), context, {});
  }
  torch::nn::Linear combine;
};

}  // namespace

std::shared_ptr<Decoder> make_decoder(const Config& config) {
  if (config.decoder == "attend_then_step") return std::make_shared<AttendThenStep>(config);
  if (config.decoder == "input_feeding") return std::make_shared<InputFeeding>(config);
  unknown("decoder", config.decoder);
}

}  // namespace peer
