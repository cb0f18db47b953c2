// Any bytes as a model file: opened, described, loaded into a model, and the model translates.
// It must be refused with a sentence, or give a model that works and comes back from its own file.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <bahdanau/backend/xtensor.hpp>
#include <bahdanau/cell/gru.hpp>
#include <bahdanau/cell/lstm.hpp>
#include <bahdanau/decode/translate.hpp>
#include <bahdanau/encoder_decoder.hpp>
#include <bahdanau/io/model_file.hpp>
#include <bahdanau/score/additive.hpp>
#include <bahdanau/score/scaled_dot.hpp>

#include "check_translation.hpp"
#include "fuzz.hpp"
#include "mutate_safetensors.hpp"
#include "seeds.hpp"

namespace bd = bahdanau;
using bd::fuzz::accepted;
using bd::fuzz::check_translation;
using bd::fuzz::require;

namespace {

using Gru = bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Xtensor<float>, bd::Bidirectional>;
using Lstm = bd::EncoderDecoder<bd::Lstm, bd::ScaledDot, bd::Xtensor<double>>;

bd::Vocabularies vocabularies(bd::Tokens tokens) {
  return {bd::Vocabulary({"<unk>", "<pad>", "<bos>", "<eos>", "a", "b", "é", "."}),
          bd::Vocabulary({"<unk>", "<pad>", "<bos>", "<eos>", "x", "y", "!"}),
          {tokens, true, 4}};
}

/// A sentence of the model's own words, and one that it does not know.
std::string sentence_for(const bd::Vocabularies& v) {
  std::string sentence = "a unknown .";
  for (std::size_t i = 0; i < std::min<std::size_t>(v.source.size(), 7); ++i)
    sentence.append(" ").append(v.source.tokens()[i].substr(0, 100));
  return sentence;
}

/// Translates with small limits, and now and then without any but the library's own.
template <class Model>
void translate(const Model& model, bool defaults) {
  const std::string sentence = sentence_for(model.vocabularies());
  constexpr std::size_t most = 6;
  accepted([&] {
    check_translation(model.translate(sentence, bd::Greedy{.max_length = most, .threads = 1}), most);
  });
  // Stepping over thousands of <pad> once is enough.
  if (model.config().final_state == bd::FinalState::padded && model.max_length() > 1000) return;
  accepted([&] {
    const bd::Beam beam{.width = 3, .max_length = most, .replace_unknown = true, .threads = 1};
    check_translation(model.translate(sentence, beam), most);
  });
  if (defaults)
    accepted([&] { check_translation(model.translate(sentence, bd::Greedy{.threads = 1}), 1000); });
}

template <class Model>
void load(const std::filesystem::path& path, bool defaults) {
  accepted([&] {
    const Model model = Model::load(path);
    static const bd::fuzz::File once("once"), twice("twice");
    model.save(once.path());
    Model::load(once.path()).save(twice.path());
    require(once.read() == twice.read(), "a model that was saved comes back the same");
    translate(model, defaults);
  });
}

/// A file that cannot be read leaves the weights as they were.
void load_weights(const std::filesystem::path& path) {
  static const bd::fuzz::File file("weights");
  static const Gru original({.embed = 2, .hidden = 3, .layers = 1}, vocabularies(bd::Tokens::words), 1);
  static const std::string before = [] {
    original.save(file.path());
    return file.read();
  }();
  Gru model = original;
  if (accepted([&] { model.load_weights(path); })) return;
  model.save(file.path());
  require(file.read() == before, "a file that is refused changes no weight");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const bd::fuzz::File file("model");
  file.write({reinterpret_cast<const char*>(data), size});
  std::string cell;
  const bool opened = accepted([&] {
    const auto opened_file = bd::SafetensorsFile::open(file.path());
    for (const auto& tensor : opened_file.tensors()) {
      const std::string& name = tensor.first;
      accepted([&] { opened_file.read<float>(name); });
      accepted([&] { opened_file.read<double>(name); });
      accepted([&] { opened_file.read<std::int32_t>(name); });
    }
    accepted([&] { cell = bd::ModelDescription::read(opened_file).cell; });
  });
  if (!opened) return 0;  // all else begins with opening it
  const bool defaults = size % 16 == 0;
  if (cell == "lstm") {
    load<Lstm>(file.path(), defaults);
  } else {
    load<Gru>(file.path(), defaults);
  }
  load_weights(file.path());
  return 0;
}

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  bd::fuzz::seeds(*argc, *argv, [](const std::filesystem::path& folder) {
    using enum bd::Tokens;
    using enum bd::FinalState;
    Gru({.embed = 2, .hidden = 3, .layers = 1}, vocabularies(words), 1).save(folder / "gru");
    Gru({.embed = 1, .hidden = 1, .layers = 3, .dropout = 0.5F}, vocabularies(none), 2)
        .save(folder / "three_layers");
    Gru({.embed = 2, .hidden = 2, .layers = 1, .final_state = padded}, vocabularies(words), 3)
        .save(folder / "padded");
    Lstm({.embed = 3, .hidden = 2, .layers = 2}, vocabularies(characters), 4).save(folder / "lstm");
    const Gru model({.embed = 2, .hidden = 3, .layers = 1}, vocabularies(words), 6);
    for (const char* prefix : {"", "net."}) {  // no metadata, as PyTorch writes it
      bd::SafetensorsWriter weights;
      for (const auto& entry : model.parameters().entries())
        weights.add(prefix + entry.name, bd::detail::extents_of(entry.parameter.shape),
                    std::vector<float>(entry.parameter.shape.size(), 0.25F));
      weights.write(folder / (std::string(prefix) + "weights"));
    }

    // Valid files with one odd value, which mutations would take long to come upon.
    const bd::fuzz::EditedSeeds edited(folder / "gru");
    for (const char* size :
         {"0", "-0", "1e999", "16777216", "16777217", "18446744073709551615", "1.0", "[[[[1]]]]"}) {
      edited.write("config", "\"layers\":1", "\"layers\":" + std::string(size));
      edited.write("config", "\"hidden\":3", "\"hidden\":" + std::string(size));
      edited.write("config", "\"embed\":2", "\"embed\":" + std::string(size));
      edited.write("text", "\"max_length\":4", "\"max_length\":" + std::string(size));
    }
    for (const char* dropout : {"1", "-0.0", "0.99999999", "1e39", "5e-324", "1e-999", "null"})
      edited.write("config", "\"dropout\":0", "\"dropout\":" + std::string(dropout));
    for (const char* token :
         {"\"\"", "\"a b\"", "\"<eos>\"", "\"\\u0085\"", "\"\\ud83d\\ude00\"", "\"\\udc00\"", "1"})
      edited.write("source_vocabulary", "\"b\"", token);
    for (const char* length : {"1", "65535", "65536", "65537"})
      bd::fuzz::EditedSeeds(folder / "padded")
          .write("text", "\"max_length\":4", "\"max_length\":" + std::string(length));
  });
  return 0;
}
