// Batches in a .safetensors file, so that every contestant gets the same ones.
// Tensors: `0.source.tokens`, `0.source.lengths`, `0.target.tokens`, `0.target.lengths`, then those of batch
// 1, ...
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <bahdanau/io/safetensors.hpp>
#include <bahdanau/model/batch.hpp>

namespace benchmark {

namespace bd = bahdanau;

inline void write_batches(const std::vector<bd::Batch>& batches, const std::filesystem::path& path) {
  bd::SafetensorsWriter file;
  const auto add = [&](const std::string& name, const bd::Sequences& rows) {
    file.add(name + ".tokens", {rows.rows(), rows.width()},
             std::span<const std::int32_t>(rows.tokens.data(), rows.tokens.size()));
    file.add(name + ".lengths", {rows.rows()}, std::span<const std::int32_t>(rows.lengths));
  };
  for (std::size_t b = 0; b < batches.size(); ++b) {
    add(std::to_string(b) + ".source", batches[b].source);
    add(std::to_string(b) + ".target", batches[b].target);
  }
  file.write(path);
}

inline std::vector<bd::Batch> read_batches(const std::filesystem::path& path) {
  const auto file = bd::SafetensorsFile::open(path);
  const auto read = [&](const std::string& name) {
    const auto tokens = file.read<std::int32_t>(name + ".tokens");
    const auto& shape = file.tensors().find(name + ".tokens")->second.shape;
    auto ids = bd::Array<bd::Token, 2>::from_shape({shape[0], shape[1]});
    std::copy(tokens.begin(), tokens.end(), ids.begin());
    return bd::Sequences(std::move(ids), file.read<std::int32_t>(name + ".lengths"));
  };
  std::vector<bd::Batch> batches;
  for (std::string b = "0"; file.contains(b + ".source.tokens"); b = std::to_string(batches.size()))
    batches.push_back({read(b + ".source"), read(b + ".target")});
  return batches;
}

}  // namespace benchmark
