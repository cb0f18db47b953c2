#include "model.hpp"

#include <stdexcept>

#include <bahdanau/io/model_description.hpp>
#include <bahdanau/io/safetensors.hpp>

namespace peer {

namespace {

Config read_config(const bahdanau::SafetensorsFile& file) {
  const auto described = bahdanau::ModelDescription::read(file);
  const auto size = [](std::size_t n) { return static_cast<std::int64_t>(n); };
  return {.cell = described.cell,
          .score = described.score,
          .encoder = described.encoder,
          .bridge = std::string(name(described.config.bridge)),
          .decoder = described.decoder,
          .readout = described.readout,
          .embed = size(described.config.embed),
          .hidden = size(described.config.hidden),
          .layers = size(described.config.layers),
          .source_vocabulary = size(described.vocabularies.source.size()),
          .target_vocabulary = size(described.vocabularies.target.size()),
          .max_length = size(described.vocabularies.text.max_length),
          .dropout = static_cast<double>(described.config.dropout)};
}

}  // namespace

Encoder::Encoder(const Config& config)
    : embedding_(register_module("embedding", torch::nn::Embedding(config.source_vocabulary, config.embed))),
      rnn_(add_encoder_cells(*this, config)) {}

std::pair<Tensor, State> Encoder::forward(const Rows& source) {
  auto [outputs, final] = rnn_->encode(embedding_(source.tokens.t()), source);
  return {outputs.permute({1, 0, 2}), final};
}

Model::Model(const std::string& path) {
  const auto file = bahdanau::SafetensorsFile::open(path);
  const Config config = read_config(file);
  max_length_ = config.max_length;
  encoder_ = register_module("encoder", std::make_shared<Encoder>(config));
  decoder_ = register_module("decoder", make_decoder(config));
  auto parameters = named_parameters();  // by the names in model files
  const torch::NoGradGuard no_gradient;
  for (const auto& [name, info] : file.tensors()) parameters[name].copy_(read_tensor<float>(file, name));
  if (file.tensors().size() != parameters.size())
    throw std::runtime_error(path + ": not all of the model's tensors");
}

std::pair<State, Encoded> Model::encode(const Rows& source) {
  const auto [keys, final] = encoder_->forward(source);
  return decoder_->begin(keys, final, source);
}

Tensor Model::forward(const Batch& batch) {
  auto [state, encoded] = encode(batch.source);
  return decoder_->forward(batch.inputs, std::move(state), encoded);
}

}  // namespace peer
