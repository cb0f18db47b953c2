// What decides the result of a training, as text: a checkpoint keeps it, and is resumed with the same.
// Data are known by a fingerprint of their tokens.
#pragma once

#include <cstdint>
#include <string>

#include <bahdanau/core/error.hpp>
#include <bahdanau/core/settings.hpp>
#include <bahdanau/train/environment.hpp>
#include <bahdanau/train/options.hpp>
#include <bahdanau/train/step_options.hpp>
#include <bahdanau/train/warnings.hpp>

namespace bahdanau::detail {

template <class Data>
std::string described(const Data& data) {
  // Those that stay in their file are known by their text, not by their tokens.
  return text(data.size()) + (PairsInFile<Data> ? " pairs that stay in their file" : " pairs") +
         ", fingerprint " + text(static_cast<std::uint64_t>(fingerprint(data)));
}

/// What a trainer tells the steps of its training.
inline StepOptions step_options(const TrainerOptions& o) {
  return {.clip = o.clip,
          .threads = o.threads,
          .seed = o.seed,
          .label_smoothing = o.label_smoothing,
          .trim_memory = o.trim_memory,
          .pool = o.pool,
          .scheduled_sampling = o.scheduled_sampling,
          .fixed = o.fixed,
          .replicas = o.replicas,
          .communicator = o.communicator};
}

/// All settings but the number of epochs; `validation` may be null.
template <class Model, class Optimizer, class Data>
Settings training_settings(const Model& model, const Optimizer& optimizer, const TrainerOptions& o,
                           const Data& data, const Data* validation) {
  const auto number = [](double x) { return number_text(x); };
  Settings result{
      {"batch", text(o.batch)},
      {"grouping", o.grouping == Grouping::random ? "random" : "by_length"},
      {"schedule", text(o.schedule.warm_up) + "/" + text(o.schedule.patience) + "/" +
                       number(o.schedule.decay) +
                       (o.schedule.after == 0 ? "" : std::string("/").append(text(o.schedule.after)))},
      {"data", described(data)},
      {"validation", validation ? described(*validation) : "none"}};
  result.merge(step_settings(model, optimizer, step_options(o)));
  // Absent without, as in checkpoints of earlier versions.
  if (o.replicas > 1) result.emplace("replicas", text(o.replicas));
  for (const auto& [key, value] : o.origin) result.emplace("origin." + key, value);
  if constexpr (requires { data.sampling().active(); })
    if (data.sampling().active())
      result.emplace("subword_sampling", text(data.sampling().best) + "/" + number(data.sampling().alpha));
  // Without a validation set it decides nothing.
  if (validation) result.emplace("min_delta", number(o.min_delta));
  if (o.criterion.measure)
    result.emplace("criterion", o.criterion.name.empty() ? "unnamed" : o.criterion.name);
  return result;
}

}  // namespace bahdanau::detail
