// Without a device a model cannot be made: the error has CUDA's message and says what was being done, and a
// model file is as it was.
#include <cstdio>
#include <filesystem>
#include <string>

#include <bahdanau/backend/thrust.hpp>
#include <bahdanau/bahdanau.hpp>

namespace bd = bahdanau;

int main() {
  using Device = bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Thrust<float>>;
  using Host = bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Xtensor<float>>;
  if (bd::Thrust<float>::available()) {
    std::puts("skipped: there is a CUDA device");
    return 0;
  }
  const std::filesystem::path path = "no_device.safetensors";
  Host({.embed = 4, .hidden = 4, .layers = 1}, {bd::Vocabulary::numbered(9), bd::Vocabulary::numbered(9), {}})
      .save(path);
  const auto size = std::filesystem::file_size(path);
  try {
    Device::load(path);
  } catch (const bd::Error& error) {
    std::puts(error.what());
    const std::string message = error.what();
    const bool says =
        message.starts_with("Thrust, allocating ") && message.find("cudaError") != std::string::npos;
    return says && std::filesystem::file_size(path) == size && Host::load(path).parameters().count() > 0 ? 0
                                                                                                         : 1;
  }
  std::puts("no error");
  return 1;
}
