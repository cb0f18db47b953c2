// What decides the result of a training, as text: a checkpoint keeps it, and is resumed with the same.
// Data are known by a fingerprint of their tokens.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <type_traits>

#include <bahdanau/core/error.hpp>
#include <bahdanau/train/optimizer.hpp>
#include <bahdanau/train/options.hpp>
#include <bahdanau/train/warnings.hpp>

namespace bahdanau::detail {

template <class Data>
std::string described(const Data& data) {
  // Those that stay in their file are known by their text, not by their tokens.
  return text(data.size()) + (PairsInFile<Data> ? " pairs that stay in their file" : " pairs") +
         ", fingerprint " + text(static_cast<std::uint64_t>(fingerprint(data)));
}

/// All settings but the number of epochs; `validation` may be null.
template <class Model, class Optimizer, class Data>
std::map<std::string, std::string> training_settings(const Model& model, const Optimizer& optimizer,
                                                     const TrainerOptions& o, const Data& data,
                                                     const Data* validation) {
  const auto number = [](double x) { return number_text(x); };
  std::map<std::string, std::string> result{
      {"scalar", std::is_same_v<typename Model::Backend::Scalar, double> ? "double" : "float"},
      {"optimizer", std::string(optimizer.name)},
      {"batch", text(o.batch)},
      {"clip", number(o.clip)},
      {"seed", text(o.seed)},
      {"grouping", o.grouping == Grouping::random ? "random" : "by_length"},
      {"label_smoothing", number(o.label_smoothing)},
      {"schedule", text(o.schedule.warm_up) + "/" + text(o.schedule.patience) + "/" +
                       number(o.schedule.decay) +
                       (o.schedule.after == 0 ? "" : std::string("/").append(text(o.schedule.after)))},
      {"data", described(data)},
      {"validation", validation ? described(*validation) : "none"}};
  if constexpr (requires { model.settings(); }) result.merge(model.settings());
  if constexpr (requires { model.dropout(); }) result.emplace("dropout", number(model.dropout()));
  // Absent without, as in checkpoints of earlier versions.
  if (o.replicas > 1) result.emplace("replicas", text(o.replicas));
  if (o.scheduled_sampling.active()) result.emplace("scheduled_sampling", text(o.scheduled_sampling));
  std::string fixed;
  for (const std::string& pattern : o.fixed) fixed += (fixed.empty() ? "" : " ") + pattern;
  if (!fixed.empty()) result.emplace("fixed", fixed);
  for (const auto& [key, value] : o.origin) result.emplace("origin." + key, value);
  if constexpr (requires { data.sampling().active(); })
    if (data.sampling().active())
      result.emplace("subword_sampling", text(data.sampling().best) + "/" + number(data.sampling().alpha));
  // Without a validation set it decides nothing.
  if (validation) result.emplace("min_delta", number(o.min_delta));
  if (o.criterion.measure)
    result.emplace("criterion", o.criterion.name.empty() ? "unnamed" : o.criterion.name);
  for (const auto& [key, value] : settings_of(optimizer)) result.emplace("optimizer." + key, number(value));
  return result;
}

}  // namespace bahdanau::detail
