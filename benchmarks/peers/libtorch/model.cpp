#include "model.hpp"

#include <cmath>
#include <stdexcept>
#include <utility>

#include <bahdanau/io/model_description.hpp>
#include <bahdanau/io/safetensors.hpp>

namespace peer {

namespace nn = torch::nn;
using torch::indexing::None;
using torch::indexing::Slice;

namespace {

template <class T>
Tensor read_tensor(const bahdanau::SafetensorsFile& file, const std::string& name) {
  const auto numbers = file.read<T>(name);
  const auto& shape = file.tensors().find(name)->second.shape;
  const std::vector<std::int64_t> extents(shape.begin(), shape.end());
  return torch::tensor(at::ArrayRef<T>(numbers)).reshape(extents);
}

}  // namespace

Rows::Rows(const Tensor& padded, const Tensor& valid) : lengths(valid.to(torch::kLong)) {
  const auto width = lengths.max().item<std::int64_t>();
  tokens = padded.narrow(1, 0, width).to(torch::kLong).contiguous();
  full = (lengths == width).all().item<bool>();
  if (!full) mask = torch::arange(width).unsqueeze(0) >= lengths.unsqueeze(1);
}

Batch::Batch(Rows from, Rows to) : source(std::move(from)), target(std::move(to)) {
  const Tensor& words = target.tokens;
  inputs = torch::cat({torch::full({words.size(0), 1}, bos), words.narrow(1, 0, words.size(1) - 1)}, 1);
  labels = target.full ? words : words.masked_fill(target.mask, -100);
}

std::vector<Batch> read_batches(const std::string& path) {
  const auto file = bahdanau::SafetensorsFile::open(path);
  const auto rows = [&](const std::string& name) {
    return Rows(read_tensor<std::int32_t>(file, name + ".tokens"),
                read_tensor<std::int32_t>(file, name + ".lengths"));
  };
  std::vector<Batch> batches;
  for (std::string b = "0"; file.contains(b + ".source.tokens"); b = std::to_string(batches.size()))
    batches.emplace_back(rows(b + ".source"), rows(b + ".target"));
  return batches;
}

Recurrent::Recurrent(const Config& config, std::int64_t inputs, bool bidirectional) {
  if (config.lstm)
    lstm = register_module("rnn", nn::LSTM(nn::LSTMOptions(inputs, config.hidden)
                                               .num_layers(config.layers)
                                               .dropout(config.dropout)
                                               .bidirectional(bidirectional)));
  else
    gru = register_module("rnn", nn::GRU(nn::GRUOptions(inputs, config.hidden)
                                             .num_layers(config.layers)
                                             .dropout(config.dropout)
                                             .bidirectional(bidirectional)));
}

std::pair<Tensor, State> Recurrent::forward(const Tensor& x, const State& state) {
  if (gru) {
    auto [output, h] = state.empty() ? gru->forward(x) : gru->forward(x, state[0]);
    return {output, {h}};
  }
  using Pair = std::tuple<Tensor, Tensor>;
  auto [output, next] = state.empty() ? lstm->forward(x) : lstm->forward(x, Pair(state[0], state[1]));
  return {output, {std::get<0>(next), std::get<1>(next)}};
}

std::pair<nn::utils::rnn::PackedSequence, State> Recurrent::forward(const nn::utils::rnn::PackedSequence& x) {
  if (gru) {
    auto [output, h] = gru->forward_with_packed_input(x);
    return {output, {h}};
  }
  auto [output, next] = lstm->forward_with_packed_input(x);
  return {output, {std::get<0>(next), std::get<1>(next)}};
}

Model::Model(const std::string& path) {
  const auto file = bahdanau::SafetensorsFile::open(path);
  const auto described = bahdanau::ModelDescription::read(file);
  const auto size = [](std::size_t n) { return static_cast<std::int64_t>(n); };
  config_ = {.lstm = described.cell == "lstm",
             .additive = described.score == "additive",
             .bidirectional = described.encoder == "bidirectional",
             .embed = size(described.config.embed),
             .hidden = size(described.config.hidden),
             .layers = size(described.config.layers),
             .source_vocabulary = size(described.vocabularies.source.size()),
             .target_vocabulary = size(described.vocabularies.target.size()),
             .max_length = size(described.vocabularies.text.max_length),
             .dropout = static_cast<double>(described.config.dropout)};
  const std::int64_t hidden = config_.hidden, width = hidden * (config_.bidirectional ? 2 : 1);
  const auto linear = [&](const std::string& name, std::int64_t in, std::int64_t out, bool bias) {
    auto module = register_module(name, nn::Linear(nn::LinearOptions(in, out).bias(bias)));
    return module;
  };
  // A module's name must not have dots; model files have them.
  source_embedding_ =
      register_module("encoder_embedding", nn::Embedding(config_.source_vocabulary, config_.embed));
  encoder_ =
      register_module("encoder", std::make_shared<Recurrent>(config_, config_.embed, config_.bidirectional));
  if (config_.additive) {
    w_q_ = linear("decoder_attention_W_q", hidden, hidden, false);
    w_k_ = linear("decoder_attention_W_k", width, hidden, false);
    w_v_ = linear("decoder_attention_w_v", hidden, 1, false);
  }
  target_embedding_ =
      register_module("decoder_embedding", nn::Embedding(config_.target_vocabulary, config_.embed));
  decoder_ = register_module("decoder", std::make_shared<Recurrent>(config_, width + config_.embed, false));
  dense_ = linear("decoder_dense", hidden, config_.target_vocabulary, true);
  for (std::int64_t l = 0; config_.bidirectional && l < config_.layers; ++l) {
    bridge_h_.push_back(linear("decoder_bridge_h_" + std::to_string(l), 2 * hidden, hidden, true));
    if (config_.lstm)
      bridge_c_.push_back(linear("decoder_bridge_c_" + std::to_string(l), 2 * hidden, hidden, true));
  }
  for (const auto& [name, info] : file.tensors()) load(name, read_tensor<float>(file, name));
  if (file.tensors().size() != parameters().size())
    throw std::runtime_error(path + ": not all of the model's tensors");
}

void Model::load(const std::string& name, const Tensor& value) {
  // decoder.bridge.h.0.weight is decoder_bridge_h_0.weight here; encoder.rnn.weight_ih_l0 has its own name
  // already
  std::string own = name;
  if (name.find(".rnn.") == std::string::npos) {
    const auto last = own.rfind('.');
    for (std::size_t i = 0; i < last; ++i)
      if (own[i] == '.') own[i] = '_';
  }
  const torch::NoGradGuard no_gradient;
  named_parameters()[own].copy_(value);
}

State Model::first_state(const State& final) {
  if (!config_.bidirectional) return final;
  State folded;
  for (std::size_t part = 0; part < final.size(); ++part) {
    const Tensor pairs =
        torch::cat({final[part].index({Slice(0, None, 2)}), final[part].index({Slice(1, None, 2)})}, -1);
    std::vector<Tensor> layers;
    for (std::int64_t l = 0; l < config_.layers; ++l) {
      auto& bridge = (part == 0 ? bridge_h_ : bridge_c_)[static_cast<std::size_t>(l)];
      layers.push_back(bridge(pairs[l]));
    }
    const Tensor stacked = torch::stack(layers);
    folded.push_back(part == 0 ? torch::tanh(stacked) : stacked);
  }
  return folded;
}

Encoded Model::encode(const Rows& source) {
  const Tensor inputs = source_embedding_(source.tokens.t());  // [steps, batch, embed]
  Tensor outputs;
  State final;
  if (source.full) {
    std::tie(outputs, final) = encoder_->forward(inputs, {});
  } else {
    namespace rnn = nn::utils::rnn;
    auto [packed, last] =
        encoder_->forward(rnn::pack_padded_sequence(inputs, source.lengths, false, /*enforce_sorted=*/false));
    outputs = std::get<0>(rnn::pad_packed_sequence(packed));
    final = last;
  }
  const Tensor keys = outputs.permute({1, 0, 2});
  return {keys, project(keys), source.mask, first_state(final)};
}

Tensor Model::attend(const Tensor& queries, const Encoded& source) {
  Tensor scores;
  if (config_.additive)
    scores = w_v_(torch::tanh(w_q_(queries).unsqueeze(2) + source.projected.unsqueeze(1))).squeeze(-1);
  else
    scores = torch::bmm(queries, source.projected.transpose(1, 2)) /
             std::sqrt(static_cast<double>(config_.hidden));
  if (source.mask.defined()) scores = scores.masked_fill(source.mask.unsqueeze(1), -1e6);
  const Tensor weights = torch::dropout(torch::softmax(scores, -1), config_.dropout, is_training());
  return torch::bmm(weights, source.keys);
}

Tensor Model::step(const Tensor& inputs, State& state) {
  auto [output, next] = decoder_->forward(inputs.unsqueeze(0), state);
  state = std::move(next);
  return output[0];
}

Tensor Model::forward(const Batch& batch) {
  const Encoded source = encode(batch.source);
  State state = source.state;
  const Tensor embedded = embed(batch.inputs.t());  // [steps, batch, embed]
  std::vector<Tensor> outputs;
  for (const Tensor& now : embedded.unbind()) {
    const Tensor context = attend(state[0][-1].unsqueeze(1), source).squeeze(1);
    outputs.push_back(step(torch::cat({context, now}, -1), state));
  }
  return logits(torch::cat(outputs));
}

}  // namespace peer
