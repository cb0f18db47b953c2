// What a model file says about its model: policies by name, sizes, vocabularies, text settings.
// Read it first to choose policies at run time; `EncoderDecoder::load` reads it for one choice.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <bahdanau/io/json.hpp>
#include <bahdanau/io/safetensors.hpp>
#include <bahdanau/model/config.hpp>
#include <bahdanau/text/vocabularies.hpp>

namespace bahdanau {

/// The metadata of a model file.
struct ModelDescription {
  static constexpr std::string_view format = "bahdanau/1";

  std::string cell, score, encoder;  // as the policies' `name`s
  Config config;
  Vocabularies vocabularies;

  /// Throws, with the file's path and the key, for metadata that is missing or not as the format says.
  template <class Json = nlohmann::json>
  static ModelDescription read(const SafetensorsFile& file);
  template <class Json = nlohmann::ordered_json>
  void write(SafetensorsWriter& file) const;
};

namespace detail {

/// One JSON object of the metadata, read key by key with errors that name them.
template <class Json>
class MetadataObject {
 public:
  MetadataObject(std::string where, Json object) : where_(std::move(where)), object_(std::move(object)) {
    if (!object_.is_object()) fail(where_, "a JSON object", object_.type_name());
  }

  bool has(const char* key) const { return object_.contains(key); }
  std::string string(const char* key) const {
    const auto& value = at(key, "a string");
    if (!value.is_string()) fail(where_ + "." + key, "a string", value.type_name());
    return value.template get<std::string>();
  }
  /// A positive size, small enough that products of two sizes do not overflow.
  std::size_t size(const char* key) const {
    constexpr std::uint64_t largest = std::uint64_t{1} << 24;
    const auto& value = at(key, "a number");
    if (!value.is_number_unsigned() || value.template get<std::uint64_t>() < 1 ||
        value.template get<std::uint64_t>() > largest)
      fail(where_ + "." + key, "a whole number from 1 to " + text(largest), quote(value.dump()));
    return value.template get<std::size_t>();
  }
  double number(const char* key) const {
    const auto& value = at(key, "a number");
    if (!value.is_number()) fail(where_ + "." + key, "a number", value.type_name());
    return value.template get<double>();
  }
  bool boolean(const char* key) const {
    const auto& value = at(key, "true or false");
    if (!value.is_boolean()) fail(where_ + "." + key, "true or false", value.type_name());
    return value.template get<bool>();
  }
  /// A key that is not known would be silently ignored, so it is refused.
  template <std::size_t Count>
  void allow_only(const std::array<std::string_view, Count>& known) const {
    for (const auto& [key, value] : object_.items())
      if (std::find(known.begin(), known.end(), key) == known.end()) {
        std::string list;
        for (std::string_view k : known) list += (list.empty() ? "" : ", ") + std::string(k);
        fail(where_, "only the keys " + list, quote(key));
      }
  }

 private:
  const Json& at(const char* key, std::string_view kind) const {
    if (!has(key)) fail(where_, "\"" + std::string(key) + "\": " + std::string(kind), "none");
    return object_[key];
  }
  std::string where_;
  Json object_;
};

inline const std::string& metadata_value(const SafetensorsFile& file, std::string_view key) {
  const auto found = file.metadata().find(key);
  if (found == file.metadata().end())
    fail(file.path().string(), "metadata " + quote(key), "none",
         "a file of weights alone is read with load_weights");
  return found->second;
}

template <class Json>
Json metadata_json(const SafetensorsFile& file, std::string_view key) {
  return parse_json<Json>(file.path().string() + ": metadata " + quote(key), metadata_value(file, key));
}

template <class Json>
Vocabulary read_vocabulary(const SafetensorsFile& file, std::string_view key) {
  const std::string where = file.path().string() + ": metadata " + quote(key);
  const Json list = metadata_json<Json>(file, key);
  if (!list.is_array()) fail(where, "an array of tokens", list.type_name());
  std::vector<std::string> tokens;
  for (const auto& token : list) {
    if (!token.is_string()) fail(where, "tokens that are strings", token.type_name());
    tokens.push_back(token.template get<std::string>());
  }
  try {
    return Vocabulary(std::move(tokens));
  } catch (const Error& e) {
    throw Error(where + ": " + e.what());
  }
}

/// The shortest decimal that reads back as the same float: 0.1, not 0.10000000149.
inline double shortest(float value) {
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  double out = 0;
  std::from_chars(buffer.data(), end, out);
  return out;
}

}  // namespace detail

template <class Json>
ModelDescription ModelDescription::read(const SafetensorsFile& file) {
  const std::string path = file.path().string();
  // Files written by hand may have the plain word; ours have JSON, as all values do.
  const std::string& version = detail::metadata_value(file, "format");
  if (version != "\"" + std::string(format) + "\"" && version != format)
    fail(path + ": metadata \"format\"", detail::quote(format), detail::quote(version),
         "the file was made by another version");
  ModelDescription d{.cell = {},
                     .score = {},
                     .encoder = {},
                     .config = {},
                     .vocabularies = {detail::read_vocabulary<Json>(file, "source_vocabulary"),
                                      detail::read_vocabulary<Json>(file, "target_vocabulary"),
                                      {}}};
  const detail::MetadataObject<Json> config(path + ": metadata \"config\"",
                                            detail::metadata_json<Json>(file, "config"));
  config.template allow_only<8>(
      {"cell", "score", "embed", "hidden", "layers", "dropout", "encoder", "final_state"});
  const detail::MetadataObject<Json> text(path + ": metadata \"text\"",
                                          detail::metadata_json<Json>(file, "text"));
  text.template allow_only<3>({"tokens", "lowercase", "max_length"});
  try {
    d.cell = config.string("cell");
    d.score = config.string("score");
    d.encoder = config.has("encoder") ? config.string("encoder") : "unidirectional";
    d.config = {
        config.size("embed"), config.size("hidden"), config.size("layers"),
        config.has("dropout") ? static_cast<float>(config.number("dropout")) : 0.0F,
        config.has("final_state") ? final_state_from_name(config.string("final_state")) : FinalState::valid};
    d.config.check();
    d.vocabularies.text = {tokens_from_name(text.string("tokens")), text.boolean("lowercase"),
                           text.size("max_length")};
    d.vocabularies.text.check("metadata \"text\"");
  } catch (const Error& e) {
    const std::string message = e.what();
    throw message.starts_with(path) ? e : Error(path + ": " + message);
  }
  return d;
}

template <class Json>
void ModelDescription::write(SafetensorsWriter& file) const {
  const Json config_json = {{"cell", cell},
                            {"score", score},
                            {"embed", config.embed},
                            {"hidden", config.hidden},
                            {"layers", config.layers},
                            {"dropout", detail::shortest(config.dropout)},
                            {"encoder", encoder},
                            {"final_state", name(config.final_state)}};
  const Json text_json = {{"tokens", name(vocabularies.text.tokens)},
                          {"lowercase", vocabularies.text.lowercase},
                          {"max_length", vocabularies.text.max_length}};
  file.metadata("format", Json(format).dump());
  file.metadata("config", config_json.dump());
  file.metadata("text", text_json.dump());
  file.metadata("source_vocabulary", Json(vocabularies.source.tokens()).dump());
  file.metadata("target_vocabulary", Json(vocabularies.target.tokens()).dump());
}

}  // namespace bahdanau
