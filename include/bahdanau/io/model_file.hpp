// Model files: `save`, `load` and `load_weights` of EncoderDecoder.
// The tensors are those of the PyTorch model's state_dict; the metadata says which model they belong to.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include <bahdanau/io/model_description.hpp>
#include <bahdanau/io/safetensors.hpp>
#include <bahdanau/model/encoder_decoder.hpp>

namespace bahdanau {

namespace detail {

inline std::vector<std::size_t> extents_of(const Shape& shape) {
  std::vector<std::size_t> out;
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) out.push_back(shape[axis]);
  return out;
}

/// Throws unless the file has each of these parameters with its shape, and nothing else.
inline void check_tensors(const SafetensorsFile& file, const ParameterList& list) {
  const std::string path = file.path().string();
  std::unordered_set<std::string_view> known;
  for (const auto& entry : list.entries()) {
    known.insert(entry.name);
    const auto found = file.tensors().find(entry.name);
    const std::string wanted = "tensor " + quote(entry.name) + " of shape " + entry.parameter.shape.text();
    if (found == file.tensors().end()) fail(path, wanted, "none of that name");
    if (found->second.shape != extents_of(entry.parameter.shape))
      fail(path, wanted, bracketed(found->second.shape));
    if (found->second.dtype == Dtype::i32) fail(path, wanted + " of dtype F32 or F64", "I32");
  }
  for (const auto& [name, info] : file.tensors())
    if (!known.contains(name))
      fail(path, "only the " + text(list.entries().size()) + " tensors of this model",
           "also " + quote(name) + " of shape " + bracketed(info.shape));
}

template <class Model>
void read_weights(const SafetensorsFile& file, Model& model) {
  for (const auto& entry : model.parameters().entries())
    model.weights().write(entry.parameter, file.read<typename Model::Scalar>(entry.name));
}

/// The parameters of a model that does not exist yet, so that a file is checked before anything is allocated.
template <class Model>
ParameterList parameters_of(const Config& config, const Vocabularies& vocabularies) {
  ParameterList list;
  const typename Model::EncoderNetwork encoder(Scope(list), vocabularies.source.size(), config);
  const typename Model::Decoder decoder(Scope(list), vocabularies.target.size(),
                                        Model::Encoder::directions * config.hidden, config);
  return list;
}

inline void require_policy(const SafetensorsFile& file, std::string_view what, std::string_view expected,
                           std::string_view got) {
  if (expected != got)
    fail(file.path().string(), "a model with " + std::string(what) + " " + quote(expected), quote(got),
         "load it into an EncoderDecoder with that policy");
}

}  // namespace detail

template <class C, class S, class B, class E>
requires detail::Composes<C, S, B, E>
void EncoderDecoder<C, S, B, E>::save(const std::filesystem::path& path) const {
  SafetensorsWriter file;
  ModelDescription{std::string(C::name), std::string(S::name), std::string(E::name), config_, vocabularies_}
      .write(file);
  for (const auto& entry : parameters_.entries())
    file.add(entry.name, detail::extents_of(entry.parameter.shape), weights_.read(entry.parameter));
  file.write(path);
}

template <class C, class S, class B, class E>
requires detail::Composes<C, S, B, E> EncoderDecoder<C, S, B, E> EncoderDecoder<C, S, B, E>::load(
    const std::filesystem::path& path) {
  const auto file = SafetensorsFile::open(path);
  ModelDescription description = ModelDescription::read(file);
  detail::require_policy(file, "cell", C::name, description.cell);
  detail::require_policy(file, "score", S::name, description.score);
  detail::require_policy(file, "encoder", E::name, description.encoder);
  if (description.config.layers > file.tensors().size())
    fail(path.string(), "tensors for " + detail::text(description.config.layers) + " layers",
         detail::text(file.tensors().size()) + " tensors");
  detail::check_tensors(file,
                        detail::parameters_of<EncoderDecoder>(description.config, description.vocabularies));
  EncoderDecoder model(description.config, std::move(description.vocabularies));
  detail::read_weights(file, model);
  return model;
}

template <class C, class S, class B, class E>
requires detail::Composes<C, S, B, E>
void EncoderDecoder<C, S, B, E>::load_weights(const std::filesystem::path& path) {
  const auto file = SafetensorsFile::open(path);
  detail::check_tensors(file, parameters_);
  // All tensors are read before any weight changes: a file that fails half-way leaves the model as it was.
  EncoderDecoder loaded = *this;
  detail::read_weights(file, loaded);
  *this = std::move(loaded);
}

}  // namespace bahdanau
