// Model files: what `save`, `load` and `load_weights` of EncoderDecoder do.
// The tensors are those of the PyTorch model's state_dict; the metadata says which model they belong to.
#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <bahdanau/io/model_description.hpp>
#include <bahdanau/io/safetensors.hpp>
#include <bahdanau/io/tensor_names.hpp>
#include <bahdanau/model/encoder.hpp>
#include <bahdanau/model/frozen_model.hpp>
#include <bahdanau/model/sequence_model.hpp>
#include <bahdanau/nn/weights.hpp>

namespace bahdanau {

namespace detail {

inline std::vector<std::size_t> extents_of(const Shape& shape) {
  std::vector<std::size_t> out;
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) out.push_back(shape[axis]);
  return out;
}

/// Whether a tensor that is no parameter is a tied output layer's weight, which PyTorch's `state_dict` has
/// twice. Throws where the two differ.
inline bool is_tied_copy(const SafetensorsFile& file, const TensorNames& names, std::string_view ours,
                         const std::string& name) {
  if (ours != "decoder.dense.weight") return false;
  const std::string* embedding = names.find("decoder.embedding.weight");
  if (embedding == nullptr || file.tensors().find(name)->second.dtype == Dtype::i32) return false;
  if (file.read<double>(name) != file.read<double>(*embedding))
    fail(file.path().string(), quote(name) + " equal to " + quote(*embedding) + ", as the model's are tied",
         "others");
  return true;
}

/// Throws unless the file has each of these parameters with its shape, and nothing else.
inline void check_tensors(const SafetensorsFile& file, const ParameterList& list, bool tied = false) {
  const std::string path = file.path().string();
  const TensorNames names(file, list);
  for (const auto& entry : list.entries()) {
    const std::string* name = names.find(entry.name);
    const std::vector<std::size_t> extents = extents_of(entry.parameter.shape);
    const std::string wanted = "tensor " + quote(entry.name) + " of shape " + entry.parameter.shape.text();
    if (name == nullptr) fail(path, wanted, "none of that name", names.nearest(entry.name, extents));
    const TensorInfo& info = file.tensors().find(*name)->second;
    if (info.shape != extents) fail(path, wanted, bracketed(info.shape));
    if (info.dtype == Dtype::i32) fail(path, wanted + " of dtype F32 or F64", "I32");
  }
  for (const auto& [ours, name] : names.all())
    if (!names.is_parameter(ours) && !(tied && is_tied_copy(file, names, ours, name)))
      fail(path, "only the " + text(list.entries().size()) + " tensors of this model",
           "also " + quote(name) + " of shape " + bracketed(file.tensors().find(name)->second.shape));
}

/// Fills the weights from a file that `check_tensors` has let pass.
template <class Model>
void read_weights(const SafetensorsFile& file, Model& model) {
  const TensorNames names(file, model.parameters());
  for (const auto& entry : model.parameters().entries())
    model.weights().write(entry.parameter, file.read<typename Model::Scalar>(*names.find(entry.name)));
}

/// The parameters of a model that does not exist yet, so that a file is checked before anything is allocated.
template <class Model>
ParameterList parameters_of(const SafetensorsFile& file, const ModelDescription& d) {
  using Encoder = typename Model::Encoder;
  ParameterList list;
  try {
    const typename Model::EncoderNetwork encoder(Scope(list), d.vocabularies.source.size(), d.config);
    const typename Model::DecoderNetwork decoder(Scope(list), d.vocabularies.target.size(),
                                                 key_width<Encoder>(d.config), value_width<Encoder>(d.config),
                                                 d.config);
  } catch (const Error& e) {
    throw Error(file.path().string() + ": " + e.what());
  }
  return list;
}

inline void require_policy(const SafetensorsFile& file, std::string_view what, std::string_view expected,
                           std::string_view got) {
  if (expected != got)
    fail(file.path().string(), "a model with " + std::string(what) + " " + quote(expected), quote(got),
         "load it into an EncoderDecoder with that policy");
}

/// Throws unless a file is of a model with these policies.
template <class Model>
void require_policies(const SafetensorsFile& file, const ModelDescription& description) {
  require_policy(file, "cell", Model::Cell::name, description.cell);
  require_policy(file, "score", Model::Score::name, description.score);
  require_policy(file, "encoder", Model::Encoder::name, description.encoder);
  require_policy(file, "decoder", Model::Decoder::name, description.decoder);
  require_policy(file, "readout", Model::Readout::name, description.readout);
}

/// Writes a model file, atomically.
template <class Model>
void save_model(const Model& model, const std::filesystem::path& path) {
  SafetensorsWriter file;
  ModelDescription{.cell = std::string(Model::Cell::name),
                   .score = std::string(Model::Score::name),
                   .encoder = std::string(Model::Encoder::name),
                   .decoder = std::string(Model::Decoder::name),
                   .readout = std::string(Model::Readout::name),
                   .config = model.config(),
                   .vocabularies = model.vocabularies()}
      .write(file);
  for (const auto& entry : model.parameters().entries())
    file.add(entry.name, extents_of(entry.parameter.shape), model.weights().read(entry.parameter));
  file.write(path);
}

/// What a model file says of its model. Throws unless it is of a model with these policies, and has its
/// tensors: before anything is allocated.
template <class Model>
ModelDescription read_description(const SafetensorsFile& file) {
  ModelDescription description = ModelDescription::read(file);
  require_policies<Model>(file, description);
  if (description.config.layers > file.tensors().size())
    fail(file.path().string(), "tensors for " + text(description.config.layers) + " layers",
         text(file.tensors().size()) + " tensors");
  check_tensors(file, parameters_of<Model>(file, description));
  return description;
}

/// Reads a model file that was made for the policies of a model.
template <class Model>
Model load_model(const std::filesystem::path& path) {
  const auto file = SafetensorsFile::open(path);
  ModelDescription description = read_description<Model>(file);
  Model model(description.config, std::move(description.vocabularies), NoFirstWeights{});
  read_weights(file, model);
  return model;
}

/// The same, frozen: what is read is packed at once, so that nothing is there twice.
template <class Model>
std::shared_ptr<const FrozenModel<typename Model::Parts>> load_frozen(const std::filesystem::path& path) {
  using Parts = typename Model::Parts;
  using B = typename Parts::Backend;
  using Scalar = typename B::Scalar;
  const auto file = SafetensorsFile::open(path);
  ModelDescription description = read_description<Model>(file);
  Parts parts(description.config, std::move(description.vocabularies));
  const TensorNames names(file, parts.parameters());
  const ZeroWeights<B> zeros(parts.parameters().size());
  const ParameterList& list = parts.parameters();
  // Some numbers of a tensor, which lie in one parameter.
  const auto read = [&](std::size_t offset, std::size_t size, auto& buffer) {
    const auto after =
        std::upper_bound(list.entries().begin(), list.entries().end(), offset,
                         [](std::size_t at, const auto& e) { return at < e.parameter.offset; });
    const ParameterList::Entry& entry = *std::prev(after);
    if (buffer.size() < size) buffer = typename B::template Storage<Scalar>(size);
    const std::size_t first = offset - entry.parameter.offset;
    if constexpr (PackingBackend<B>) {  // whose memory is the host's
      file.read(*names.find(entry.name), first, std::span<Scalar>(buffer.data(), size));
    } else {
      std::vector<Scalar> host(size);
      file.read(*names.find(entry.name), first, std::span<Scalar>(host));
      B::upload(host.data(), size, buffer.data());
    }
    return static_cast<const Scalar*>(buffer.data());
  };
  return std::make_shared<const FrozenModel<Parts>>(Parts(parts), zeros.data(), read);
}

/// Fills the weights from a file that has just these tensors, by name.
template <class Model>
void load_weights(Model& model, const std::filesystem::path& path) {
  const auto file = SafetensorsFile::open(path);
  check_tensors(file, model.parameters(), model.config().tied);
  if (file.metadata().contains("config")) {  // a model file: tensors of other policies may have these shapes
    const ModelDescription description = ModelDescription::read(file);
    require_policies<Model>(file, description);
    // So may tensors of a model that computes otherwise.
    const auto agree = [&](std::string_view what, std::string_view expected, std::string_view got) {
      if (expected == got) return;
      fail(file.path().string(),
           std::string("a model with ").append(what).append(" ").append(quote(expected)), quote(got));
    };
    const auto truth = [](bool value) { return value ? "true" : "false"; };
    const Config &config = model.config(), &other = description.config;
    agree("bridge", name(config.bridge), name(other.bridge));
    agree("final_state", name(config.final_state), name(other.final_state));
    agree("residual", truth(config.residual), truth(other.residual));
    agree("reverse_source", truth(model.vocabularies().text.reverse_source),
          truth(description.vocabularies.text.reverse_source));
  }
  // All tensors are read before any weight changes: a file that fails half-way leaves the model as it was.
  Model loaded = model;
  read_weights(file, loaded);
  model = std::move(loaded);
}

}  // namespace detail
}  // namespace bahdanau
