// What a diagram of a model is drawn from: the names of its policies, its sizes, and its tensors.
// From a model, a frozen one, or a file.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <bahdanau/io/model_description.hpp>
#include <bahdanau/io/safetensors.hpp>
#include <bahdanau/model/config.hpp>

namespace bahdanau::plot {

/// What a diagram is drawn of: the names of the policies, sizes, and the tensors.
struct ModelParts {
  struct Tensor {
    std::string name;
    std::vector<std::size_t> shape;
  };
  std::string cell, score, encoder, decoder, readout;
  Config config;
  std::size_t source_words = 0, target_words = 0;
  std::vector<Tensor> tensors;

  /// Of a model, or of a frozen one.
  template <class Model>
  static ModelParts of(const Model& model) {
    ModelParts parts{std::string(Model::Cell::name),
                     std::string(Model::Score::name),
                     std::string(Model::Encoder::name),
                     std::string(Model::Decoder::name),
                     std::string(Model::Readout::name),
                     model.config(),
                     model.vocabularies().source.size(),
                     model.vocabularies().target.size(),
                     {}};
    for (const auto& entry : model.parameters().entries()) {
      Tensor tensor{entry.name, {}};
      for (std::size_t axis = 0; axis < entry.parameter.shape.rank(); ++axis)
        tensor.shape.push_back(entry.parameter.shape[axis]);
      parts.tensors.push_back(std::move(tensor));
    }
    return parts;
  }

  /// Of a model file. Throws for one that is none.
  static ModelParts read(const std::filesystem::path& path) {
    const SafetensorsFile file = SafetensorsFile::open(path);
    const ModelDescription d = ModelDescription::read(file);
    ModelParts parts{d.cell,
                     d.score,
                     d.encoder,
                     d.decoder,
                     d.readout,
                     d.config,
                     d.vocabularies.source.size(),
                     d.vocabularies.target.size(),
                     {}};
    for (const auto& [name, info] : file.tensors()) parts.tensors.push_back({name, info.shape});
    return parts;
  }
};

}  // namespace bahdanau::plot
