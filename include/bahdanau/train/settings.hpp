// What decides the result of a training, as text: a checkpoint keeps it, and is resumed with the same.
// Data are known by a fingerprint of their tokens.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <type_traits>

#include <bahdanau/core/error.hpp>
#include <bahdanau/core/random.hpp>
#include <bahdanau/model/config.hpp>
#include <bahdanau/text/corpus.hpp>
#include <bahdanau/train/optimizer.hpp>
#include <bahdanau/train/options.hpp>

namespace bahdanau::detail {

inline std::string fingerprint(const Corpus& corpus) {
  random::Key key{corpus.size()};
  for (const auto* vocabulary : {&corpus.vocabularies().source, &corpus.vocabularies().target})
    for (const std::string& token : vocabulary->tokens())
      for (const char c : token + "\n") key = key.derive(static_cast<unsigned char>(c));
  for (const auto* rows : {&corpus.source(), &corpus.target()})
    for (const auto& row : *rows)
      for (const Token id : row) key = key.derive(static_cast<std::uint64_t>(id));
  return text(corpus.size()) + " pairs, fingerprint " + text(key.state);
}

/// All settings but the number of epochs; `validation` may be null.
template <class Model, class Optimizer>
std::map<std::string, std::string> training_settings(const Model& model, const Optimizer& optimizer,
                                                     const TrainerOptions& o, const Corpus& corpus,
                                                     const Corpus* validation) {
  const auto number = [](double x) { return number_text(x); };
  const TextOptions& tokens = model.vocabularies().text;
  std::map<std::string, std::string> result{
      {"cell", std::string(Model::Cell::name)},
      {"score", std::string(Model::Score::name)},
      {"encoder", std::string(Model::Encoder::name)},
      {"dropout", number(static_cast<double>(model.config().dropout))},
      {"final_state", std::string(name(model.config().final_state))},
      {"scalar", std::is_same_v<typename Model::Scalar, double> ? "double" : "float"},
      {"optimizer", std::string(optimizer.name)},
      {"batch", text(o.batch)},
      {"clip", number(o.clip)},
      {"seed", text(o.seed)},
      {"grouping", o.grouping == Grouping::random ? "random" : "by_length"},
      {"label_smoothing", number(o.label_smoothing)},
      {"schedule",
       text(o.schedule.warm_up) + "/" + text(o.schedule.patience) + "/" + number(o.schedule.decay)},
      {"text", std::string(name(tokens.tokens)) + (tokens.lowercase ? ", lower case, " : ", ") +
                   (tokens.max_length == 0 ? "uncut" : text(tokens.max_length) + " tokens")},
      {"data", fingerprint(corpus)},
      {"validation", validation ? fingerprint(*validation) : "none"}};
  // Without a validation set it decides nothing.
  if (validation) result.emplace("min_delta", number(o.min_delta));
  for (const auto& [key, value] : settings_of(optimizer)) result.emplace("optimizer." + key, number(value));
  return result;
}

}  // namespace bahdanau::detail
