// The inputs that a program begins with: it writes them itself, so that they always fit the formats of today.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>

#include <bahdanau/io/safetensors.hpp>

#include "fuzz.hpp"

namespace bahdanau::fuzz {

/// `program --seeds folder` writes the inputs to begin with: `make(folder)` does, for LLVMFuzzerInitialize.
template <class Make>
void seeds(int argc, char** argv, const Make& make) {
  if (argc != 3 || std::string_view(argv[1]) != "--seeds") return;
  std::filesystem::create_directories(argv[2]);
  make(std::filesystem::path(argv[2]));
  std::exit(0);
}

inline void write_seed(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

/// Copies of a safetensors file of F32 or F64 tensors in which one piece of metadata is another.
class EditedSeeds {
 public:
  explicit EditedSeeds(std::filesystem::path original) : original_(std::move(original)) {}

  /// Writes a copy, beside the original, in which `what` became `with` in the metadata of that key.
  void write(std::string_view key, std::string_view what, std::string_view with) const {
    const auto file = SafetensorsFile::open(original_);
    SafetensorsWriter out;
    for (const auto& [name, value] : file.metadata()) {
      std::string text = value;
      if (name == key) {
        require(text.find(what) != text.npos, "a seed has what is to be edited", what);
        text.replace(text.find(what), what.size(), with);
      }
      out.metadata(name, text);
    }
    for (const auto& [name, info] : file.tensors()) {
      if (info.dtype == Dtype::f64) {
        out.add(name, info.shape, file.read<double>(name));
      } else {
        out.add(name, info.shape, file.read<float>(name));
      }
    }
    for (int number = 1;; ++number) {
      const auto path = original_.string() + "-" + std::to_string(number);
      if (std::filesystem::exists(path)) continue;
      out.write(path);
      return;
    }
  }

 private:
  std::filesystem::path original_;
};

}  // namespace bahdanau::fuzz
