// What a checkpoint must agree with: a model's sizes, and its policies and choices by name.
// Merged with training's own settings by train/settings.hpp.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include <bahdanau/core/error.hpp>
#include <bahdanau/model/attend_then_step.hpp>
#include <bahdanau/model/config.hpp>
#include <bahdanau/model/readout.hpp>
#include <bahdanau/text/vocabularies.hpp>

namespace bahdanau::detail {

/// What decides how weights are laid out.
struct ModelSizes {
  std::size_t embed, hidden, layers, source, target, weights;
  bool operator==(const ModelSizes&) const = default;

  std::string text() const {
    const auto number = [](std::size_t n) { return detail::text(n); };
    return "embed " + number(embed) + ", hidden " + number(hidden) + ", layers " + number(layers) +
           ", vocabularies of " + number(source) + " and " + number(target) + ", " + number(weights) +
           " weights";
  }
};

/// The names of a model's policies.
struct PolicyNames {
  std::string_view cell, score, encoder, decoder, readout;
};

/// How text becomes tokens, once where both sides agree.
inline std::string sides_text(const TextOptions& options) {
  const TextSide source = options.source_side(), target = options.target_side();
  return source == target ? source.text() : source.text() + " to " + target.text();
}

inline std::map<std::string, std::string> model_settings(const PolicyNames& policies, const Config& config,
                                                         const TextOptions& tokens) {
  std::map<std::string, std::string> out{
      {"cell", std::string(policies.cell)},
      {"score", std::string(policies.score)},
      {"encoder", std::string(policies.encoder)},
      {"final_state", std::string(name(config.final_state))},
      {"text", sides_text(tokens) +
                   (tokens.max_length == 0 ? ", uncut" : ", " + text(tokens.max_length) + " tokens") +
                   (tokens.reverse_source ? ", sources reversed" : "")}};
  // Absent where they are as in 0.1, whose checkpoints say nothing of them.
  const auto add = [&](const char* key, std::string_view value, std::string_view usual) {
    if (value != usual) out.emplace(key, value);
  };
  add("decoder", policies.decoder, AttendThenStep::name);
  add("readout", policies.readout, LinearReadout::name);
  add("bridge", name(config.bridge), name(Bridge::both));
  add("tied", config.tied ? "true" : "false", "false");
  add("residual", config.residual ? "true" : "false", "false");
  add("dropout_masks", name(config.dropout_masks), name(DropoutMasks::per_position));
  add("embedding_dropout", number_text(config.embedding_dropout), "0");
  return out;
}

}  // namespace bahdanau::detail
