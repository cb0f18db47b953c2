// The program of the page on model files; model_file.py reads what it writes.
#include <iostream>

#include <bahdanau/bahdanau.hpp>

namespace bd = bahdanau;

using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Xtensor<float>>;

int main() {
  const bd::Vocabulary ten = bd::Vocabulary::numbered(10);
  const Model model({.embed = 4, .hidden = 6, .layers = 1}, {ten, ten, {}}, /*seed=*/1);
  model.save("model.safetensors");  // beside its place, then renamed: never half a file
  const Model loaded = Model::load("model.safetensors");

  Model other({.embed = 4, .hidden = 6, .layers = 1}, {ten, ten, {}}, /*seed=*/2);
  other.load_weights("model.safetensors");  // every tensor by name; one too few or too many is an error

  const auto file = bd::SafetensorsFile::open("model.safetensors");
  for (const auto& [name, tensor] : file.tensors())
    std::cout << name << ": " << file.read<float>(name).size() << " numbers\n";

  try {
    bd::EncoderDecoder<bd::Lstm, bd::Additive, bd::Xtensor<float>>::load("model.safetensors");
  } catch (const bd::Error& error) {
    std::cout << error.what() << '\n';
  }
  const auto& entries = model.parameters().entries();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (loaded.weights().read(entries[i].parameter) != model.weights().read(entries[i].parameter)) return 1;
    if (other.weights().read(entries[i].parameter) != model.weights().read(entries[i].parameter)) return 1;
  }
}
