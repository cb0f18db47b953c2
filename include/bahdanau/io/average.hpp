// Averages of models: a model file whose weights are the means of those in others, as those of a training's
// last epochs. The files say the same of their models, and have the same tensors.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <bahdanau/core/error.hpp>
#include <bahdanau/core/quote.hpp>
#include <bahdanau/io/model_description.hpp>
#include <bahdanau/io/safetensors.hpp>

namespace bahdanau {

namespace detail {

/// Throws where two files are of different models.
inline void require_same_model(const SafetensorsFile& file, const ModelDescription& first,
                               const ModelDescription& other) {
  const std::string path = file.path().string();
  const auto policy = [&](std::string_view what, std::string_view expected, std::string_view got) {
    if (expected != got)
      fail(path, std::string(what) + " " + quote(expected) + ", as the first file has", quote(got));
  };
  policy("cell", first.cell, other.cell);
  policy("score", first.score, other.score);
  policy("encoder", first.encoder, other.encoder);
  policy("decoder", first.decoder, other.decoder);
  policy("readout", first.readout, other.readout);
  if (first.config != other.config) fail(path, "the sizes and choices of the first file", "others");
  if (first.vocabularies != other.vocabularies)
    fail(path, "the vocabularies and text settings of the first file", "others");
}

/// Throws where a file has not just the tensors of another.
inline void require_same_tensors(const SafetensorsFile& file, const SafetensorsFile& first) {
  const std::string path = file.path().string();
  for (const auto& [name, info] : first.tensors()) {
    const auto found = file.tensors().find(name);
    const std::string wanted =
        "tensor " + quote(name) + " of shape " + bracketed(info.shape) + ", as the first file has";
    if (found == file.tensors().end()) fail(path, wanted, "none of that name");
    if (found->second.shape != info.shape) fail(path, wanted, bracketed(found->second.shape));
    if (found->second.dtype == Dtype::i32) fail(path, wanted + ", of dtype F32 or F64", "I32");
  }
  for (const auto& [name, info] : file.tensors())
    if (!first.contains(name)) fail(path, "the tensors of the first file alone", "also " + quote(name));
}

}  // namespace detail

/// Writes the mean of model files as another one, atomically: each number is the mean of theirs, taken in
/// double and kept in the first file's type. Throws for files that are no models, or not of the same one.
inline void average_weights(std::span<const std::filesystem::path> files, const std::filesystem::path& out) {
  if (files.empty()) fail("average_weights", "at least one model file", "none");
  std::vector<SafetensorsFile> opened;
  for (const std::filesystem::path& path : files) opened.push_back(SafetensorsFile::open(path));
  const SafetensorsFile& first = opened.front();
  const ModelDescription description = ModelDescription::read(first);
  for (const SafetensorsFile& file : opened) {
    if (&file != &first) detail::require_same_model(file, description, ModelDescription::read(file));
    detail::require_same_tensors(file, first);
  }
  SafetensorsWriter writer;
  description.write(writer);
  for (const auto& [name, info] : first.tensors()) {
    std::vector<double> sum = first.read<double>(name);
    for (const SafetensorsFile& file : std::span(opened).subspan(1)) {
      const std::vector<double> numbers = file.read<double>(name);
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += numbers[i];
    }
    for (double& number : sum) number /= static_cast<double>(opened.size());
    if (info.dtype == Dtype::f64)
      writer.add(name, info.shape, std::span<const double>(sum));
    else
      writer.add(name, info.shape, std::span<const float>(std::vector<float>(sum.begin(), sum.end())));
  }
  writer.write(out);
}

}  // namespace bahdanau
