// Checkpoints: everything that resuming needs beyond the model itself, in one file written atomically.
// Numbers are kept to the bit, so that a resumed training ends as one that ran through.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <bahdanau/io/json.hpp>
#include <bahdanau/io/safetensors.hpp>
#include <bahdanau/nn/weights.hpp>
#include <bahdanau/train/report.hpp>
#include <bahdanau/train/schedule.hpp>

namespace bahdanau {

/// Where a training stands, beside its arrays.
struct CheckpointState {
  std::uint64_t epoch = 0, batch = 0;  // what comes next
  std::uint64_t batches = 0;           // seen so far
  std::uint64_t optimizer_steps = 0;
  ScheduleState schedule;
  Loss running;  // of the epoch that was under way
  double seconds = 0;
  TrainingReport report;
  std::map<std::string, std::string> settings;  // what must be the same when training goes on
};

/// The arrays of a checkpoint, as blocks laid out by the model's parameters.
template <Backend B>
struct CheckpointBlocks {
  ParameterBlock<B>*weights, *first, *second;  // the last two are the optimizer's
  ParameterBlock<B>* best;                     // null without a validation set
  ParameterBlock<B>* good;                     // the weights at the start of the epoch
};

namespace detail {

template <class Json>
Json to_json(const Loss& loss) {
  return {loss.nats, loss.tokens, loss.sum};
}
template <class Json>
Loss loss_from(const Json& j) {
  return {j.at(0).template get<double>(), j.at(1).template get<std::size_t>(),
          j.at(2).template get<double>()};
}

template <class Json>
Json to_json(const CheckpointState& s) {
  Json epochs = Json::array();
  for (const EpochReport& e : s.report.epochs)
    epochs.push_back({{"epoch", e.epoch},
                      {"training", to_json<Json>(e.training)},
                      {"validation", e.validation ? to_json<Json>(*e.validation) : Json()},
                      {"seconds", e.seconds},
                      {"rate", e.rate_factor},
                      {"best", e.best}});
  return {{"epoch", s.epoch},
          {"batch", s.batch},
          {"batches", s.batches},
          {"optimizer_steps", s.optimizer_steps},
          {"schedule", {s.schedule.factor, s.schedule.best, s.schedule.epochs, s.schedule.waiting}},
          {"running", to_json<Json>(s.running)},
          {"seconds", s.seconds},
          {"best_epoch", s.report.best_epoch},
          {"epochs", epochs},
          {"settings", s.settings}};
}

template <class Json>
CheckpointState checkpoint_state_from(const Json& j) {
  CheckpointState s;
  s.epoch = j.at("epoch");
  s.batch = j.at("batch");
  s.batches = j.at("batches");
  s.optimizer_steps = j.at("optimizer_steps");
  const auto& schedule = j.at("schedule");
  s.schedule = {schedule.at(0), schedule.at(1), schedule.at(2), schedule.at(3)};
  s.running = loss_from(j.at("running"));
  s.seconds = j.at("seconds");
  s.report.best_epoch = j.at("best_epoch");
  for (const auto& e : j.at("epochs")) {
    EpochReport r{.epoch = e.at("epoch"), .training = loss_from(e.at("training"))};
    if (!e.at("validation").is_null()) r.validation = loss_from(e.at("validation"));
    r.seconds = e.at("seconds");
    r.rate_factor = e.at("rate");
    r.best = e.at("best");
    s.report.epochs.push_back(r);
  }
  s.settings = j.at("settings").template get<std::map<std::string, std::string>>();
  return s;
}

/// Calls f(prefix, block) for the blocks that there are.
template <Backend B, class F>
void for_blocks(const CheckpointBlocks<B>& blocks, F f) {
  f("weights.", *blocks.weights);
  f("optimizer.first.", *blocks.first);
  f("optimizer.second.", *blocks.second);
  if (blocks.best) f("best.", *blocks.best);
  f("good.", *blocks.good);
}

}  // namespace detail

/// Writes a checkpoint; the file that was there stays whole until the new one is.
template <Backend B>
void write_checkpoint(const std::filesystem::path& path, const CheckpointState& state,
                      const ParameterList& list, const CheckpointBlocks<B>& blocks) {
  SafetensorsWriter file;
  file.metadata("format", "\"bahdanau-checkpoint/1\"");
  file.metadata("state", detail::to_json<nlohmann::json>(state).dump());
  detail::for_blocks(blocks, [&](const std::string& prefix, const ParameterBlock<B>& block) {
    for (const auto& entry : list.entries())
      file.add(prefix + entry.name, {entry.parameter.shape.size()}, block.read(entry.parameter));
  });
  file.write(path);
}

/// Reads a checkpoint into the blocks; throws, before any of them changes, if it was made with other settings
/// or for another model.
template <Backend B>
CheckpointState read_checkpoint(const std::filesystem::path& path,
                                const std::map<std::string, std::string>& settings, const ParameterList& list,
                                const CheckpointBlocks<B>& blocks) {
  const auto file = SafetensorsFile::open(path);
  const auto found = file.metadata().find("state");
  if (found == file.metadata().end())
    fail(path.string(), "a checkpoint", "a file without metadata \"state\"");
  CheckpointState state;
  try {
    state = detail::checkpoint_state_from(detail::parse_json(path.string(), found->second, 6));
  } catch (const nlohmann::json::exception& e) {
    fail(path.string(), "the state of a checkpoint", "something else", e.what());
  }
  for (const auto& [key, value] : settings) {
    const auto before = state.settings.find(key);
    const std::string got = before == state.settings.end() ? "none" : before->second;
    if (got != value)
      fail(path.string(), key + " " + got + ", as when the checkpoint was made", value,
           "resume with the same settings and data, or start anew without --resume");
  }
  std::vector<std::vector<typename B::Scalar>> numbers;
  detail::for_blocks(blocks, [&](const std::string& prefix, const ParameterBlock<B>&) {
    for (const auto& entry : list.entries()) {
      numbers.push_back(file.read<typename B::Scalar>(prefix + entry.name));
      detail::require_equal(path.string(), "numbers in " + detail::quote(prefix + entry.name) + ":",
                            entry.parameter.shape.size(), numbers.back().size());
    }
  });
  std::size_t next = 0;
  detail::for_blocks(blocks, [&](const std::string&, ParameterBlock<B>& block) {
    for (const auto& entry : list.entries()) block.write(entry.parameter, numbers[next++]);
  });
  return state;
}

}  // namespace bahdanau
