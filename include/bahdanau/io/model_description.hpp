// What a model file says about its model: policies by name, sizes, vocabularies, text settings.
// Read it first to choose policies at run time; `EncoderDecoder::load` reads it for one choice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <bahdanau/io/json_value.hpp>
#include <bahdanau/io/json_writer.hpp>
#include <bahdanau/io/safetensors.hpp>
#include <bahdanau/io/text_settings.hpp>
#include <bahdanau/model/config.hpp>
#include <bahdanau/text/vocabularies.hpp>

namespace bahdanau {

/// The metadata of a model file.
struct ModelDescription {
  static constexpr std::string_view format = "bahdanau/1";

  // What a model has where its file does not say: d2l's choices.
  static constexpr std::string_view usual_decoder = "attend_then_step", usual_readout = "linear";

  std::string cell, score, encoder = "unidirectional";  // as the policies' `name`s
  std::string decoder{usual_decoder}, readout{usual_readout};
  Config config;
  Vocabularies vocabularies;

  /// Throws, with the file's path and the key, for metadata that is missing or not as the format says.
  static ModelDescription read(const SafetensorsFile& file);
  void write(SafetensorsWriter& file) const;
};

namespace detail {

inline const std::string& metadata_value(const SafetensorsFile& file, std::string_view key) {
  const auto found = file.metadata().find(key);
  if (found == file.metadata().end())
    fail(file.path().string(), "metadata " + quote(key), "none",
         "a file of weights alone is read with load_weights");
  return found->second;
}

inline std::string metadata_place(const SafetensorsFile& file, std::string_view key) {
  return file.path().string() + ": metadata " + quote(key);
}

inline JsonValues metadata_json(const SafetensorsFile& file, std::string_view key) {
  return {metadata_place(file, key), metadata_value(file, key), /*max_depth=*/4};
}

inline Vocabulary read_vocabulary(const SafetensorsFile& file, std::string_view key) {
  std::vector<std::string> tokens;
  JsonValues in = metadata_json(file, key);
  in.array("an array of tokens", [&](std::size_t) { tokens.push_back(in.string()); });
  in.finish();
  try {
    return Vocabulary(std::move(tokens));
  } catch (const Error& e) {
    throw Error(metadata_place(file, key) + ": " + e.what());
  }
}

/// The subword model of a side, which is base64 in the file.
inline std::shared_ptr<const Subwords> read_subwords(const SafetensorsFile& file, const std::string& key,
                                                     const std::string& kind) {
  JsonValues in = metadata_json(file, key);
  const std::string place = metadata_place(file, key);
  std::string bytes = from_base64(place, in.string());
  in.finish();
  return SubwordReaders::process().read(place, kind, std::move(bytes));
}

/// Throws for a vocabulary that is not that of the side's subwords: all pieces would be `<unk>`, or others.
inline void require_pieces(const std::string& side, const TextSide& text, const Vocabulary& vocabulary) {
  if (!text.subwords || vocabulary == Vocabulary::of_pieces(text.subwords->pieces())) return;
  fail("metadata \"" + side + "_subwords\"", "the pieces of " + side + "_vocabulary, in their order",
       "others");
}

/// Throws for subwords that neither side has: whoever made the file meant a side to split by them.
inline void require_subwords_of_sides(const SafetensorsFile& file, const TextOptions& text) {
  for (const auto& [key, value] : file.metadata()) {
    if (!key.ends_with("_subwords")) continue;
    const bool named = (key == "source_subwords" && text.source_side().subwords) ||
                       (key == "target_subwords" && text.target_side().subwords);
    if (!named)
      fail(metadata_place(file, key), "a side of metadata \"text\" with tokens \"subwords\"", "none");
  }
}

inline JsonArray to_json(const Vocabulary& vocabulary) {
  JsonArray out;
  for (const std::string& token : vocabulary.tokens()) out.add(token);
  return out;
}

}  // namespace detail

inline ModelDescription ModelDescription::read(const SafetensorsFile& file) {
  const std::string path = file.path().string();
  // Files written by hand may have the plain word; ours have JSON, as all values do.
  const std::string& version = detail::metadata_value(file, "format");
  if (version != "\"" + std::string(format) + "\"" && version != format)
    fail(path + ": metadata \"format\"", detail::quote(format), detail::quote(version),
         "the file was made by another version");
  ModelDescription d{.cell = {},
                     .score = {},
                     .config = {},
                     .vocabularies = {detail::read_vocabulary(file, "source_vocabulary"),
                                      detail::read_vocabulary(file, "target_vocabulary"),
                                      {}}};
  constexpr std::uint64_t largest = Config::largest;
  detail::JsonValues in = detail::metadata_json(file, "config");
  try {
    in.object({{"cell", "a string", [&] { d.cell = in.string(); }},
               {"score", "a string", [&] { d.score = in.string(); }},
               {"embed", "a number", [&] { d.config.embed = in.whole(1, largest); }},
               {"hidden", "a number", [&] { d.config.hidden = in.whole(1, largest); }},
               {"layers", "a number", [&] { d.config.layers = in.whole(1, largest); }},
               {"dropout", "a number", [&] { d.config.dropout = static_cast<float>(in.number()); }, false},
               {"encoder", "a string", [&] { d.encoder = in.string(); }, false},
               {"decoder", "a string", [&] { d.decoder = in.string(); }, false},
               {"readout", "a string", [&] { d.readout = in.string(); }, false},
               {"bridge", "a string", [&] { d.config.bridge = bridge_from_name(in.string()); }, false},
               {"tied", "true or false", [&] { d.config.tied = in.boolean(); }, false},
               {"residual", "true or false", [&] { d.config.residual = in.boolean(); }, false},
               {"dropout_masks", "a string",
                [&] { d.config.dropout_masks = dropout_masks_from_name(in.string()); }, false},
               {"embedding_dropout", "a number",
                [&] { d.config.embedding_dropout = static_cast<float>(in.number()); }, false},
               {"final_state", "a string", [&] { d.config.final_state = final_state_from_name(in.string()); },
                false}});
    in.finish();
    d.config.check();
    TextOptions& text = d.vocabularies.text;
    in = detail::metadata_json(file, "text");
    text = detail::read_text_options(in, largest, [&](std::string_view side, const std::string& kind) {
      return detail::read_subwords(file, std::string(side) + "_subwords", kind);
    });
    in.finish();
    text.check("metadata \"text\"");
    detail::require_subwords_of_sides(file, text);
    detail::require_pieces("source", text.source_side(), d.vocabularies.source);
    detail::require_pieces("target", text.target_side(), d.vocabularies.target);
    detail::require_row_width("metadata \"text\"", d.config.final_state, text.max_length);
  } catch (const Error& e) {
    const std::string message = e.what();
    throw message.starts_with(path) ? e : Error(path + ": " + message);
  }
  return d;
}

inline void ModelDescription::write(SafetensorsWriter& file) const {
  detail::JsonObject sizes;
  sizes.add("cell", cell).add("score", score);
  sizes.add("embed", config.embed).add("hidden", config.hidden).add("layers", config.layers);
  sizes.add("dropout", config.dropout).add("encoder", encoder).add("final_state", name(config.final_state));
  // Absent where they are as in 0.1: files of its models keep their bytes.
  if (decoder != usual_decoder) sizes.add("decoder", decoder);
  if (readout != usual_readout) sizes.add("readout", readout);
  if (config.bridge != Bridge::both) sizes.add("bridge", name(config.bridge));
  if (config.tied) sizes.add("tied", config.tied);
  if (config.residual) sizes.add("residual", config.residual);
  if (config.dropout_masks != DropoutMasks::per_position)
    sizes.add("dropout_masks", name(config.dropout_masks));
  if (config.embedding_dropout != 0) sizes.add("embedding_dropout", config.embedding_dropout);
  file.metadata("format", "\"" + std::string(format) + "\"");
  file.metadata("config", sizes.text());
  file.metadata("text", detail::to_json(vocabularies.text).text());
  file.metadata("source_vocabulary", detail::to_json(vocabularies.source).text());
  file.metadata("target_vocabulary", detail::to_json(vocabularies.target).text());
  const auto add_subwords = [&](const char* key, const TextSide& side) {
    if (!side.subwords) return;
    std::string json;
    detail::append_json(json, detail::to_base64(side.subwords->bytes()));
    file.metadata(key, json);
  };
  add_subwords("source_subwords", vocabularies.text.source_side());
  add_subwords("target_subwords", vocabularies.text.target_side());
}

}  // namespace bahdanau
