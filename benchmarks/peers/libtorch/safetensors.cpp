#include "safetensors.hpp"

#include <cstdint>
#include <fstream>
#include <stdexcept>

namespace peer {

File read_safetensors(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::uint64_t length = 0;
  in.read(reinterpret_cast<char*>(&length), sizeof length);
  std::string text(length, ' ');
  in.read(text.data(), static_cast<std::streamsize>(length));
  if (!in) throw std::runtime_error("cannot read " + path);
  const auto start = in.tellg();
  const auto header = nlohmann::json::parse(text);
  File file;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") {
      for (const auto& [key, value] : entry.items())
        if (key != "format") file.metadata[key] = nlohmann::json::parse(value.get<std::string>());
      continue;
    }
    const auto shape = entry["shape"].get<std::vector<std::int64_t>>();
    const auto begin = entry["data_offsets"][0].get<std::int64_t>(),
               end = entry["data_offsets"][1].get<std::int64_t>();
    torch::Tensor tensor = torch::empty(shape, entry["dtype"] == "I32" ? torch::kInt32 : torch::kFloat32);
    in.seekg(start + std::streamoff(begin));
    in.read(static_cast<char*>(tensor.data_ptr()), end - begin);
    file.tensors[name] = tensor;
  }
  if (!in) throw std::runtime_error("cannot read " + path);
  return file;
}

}  // namespace peer
