// Checkpoints: everything that resuming needs beyond the model itself, in one file written atomically.
// Numbers are kept to the bit, so that a resumed training ends as one that ran through.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <bahdanau/core/quote.hpp>
#include <bahdanau/core/settings.hpp>
#include <bahdanau/io/json_value.hpp>
#include <bahdanau/io/json_writer.hpp>
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
  detail::Settings settings;  // what must be the same when training goes on
};

/// The arrays of a checkpoint, as blocks laid out by the model's parameters.
template <Backend B>
struct CheckpointBlocks {
  ParameterBlock<B>*weights, *first, *second;  // the last two are the optimizer's
  ParameterBlock<B>* best;                     // null without a validation set
  ParameterBlock<B>* good;                     // the weights at the start of the epoch
};

namespace detail {

inline JsonArray to_json(const Loss& loss) {
  return JsonArray().add(loss.nats).add(loss.tokens).add(loss.sum);
}

inline JsonObject to_json(const EpochReport& e) {
  JsonObject out;
  out.add("epoch", e.epoch).add("training", to_json(e.training));
  if (e.validation) out.add("validation", to_json(*e.validation));
  if (e.measured) out.add("measured", *e.measured);
  return out.add("seconds", e.seconds).add("rate", e.rate_factor).add("best", e.best);
}

inline JsonObject to_json(const CheckpointState& s) {
  JsonArray schedule, epochs;
  JsonObject settings;
  schedule.add(s.schedule.factor).add(s.schedule.best).add(s.schedule.epochs).add(s.schedule.waiting);
  for (const EpochReport& e : s.report.epochs) epochs.add(to_json(e));
  for (const auto& [key, value] : s.settings) settings.add(key, value);
  JsonObject out;
  out.add("epoch", s.epoch).add("batch", s.batch).add("batches", s.batches);
  out.add("optimizer_steps", s.optimizer_steps).add("schedule", schedule);
  out.add("running", to_json(s.running)).add("seconds", s.seconds);
  return out.add("best_epoch", s.report.best_epoch).add("epochs", epochs).add("settings", settings);
}

inline void read_loss(JsonValues& in, Loss& loss) {
  const std::size_t count = in.array("an array of nats, tokens and their sum", [&](std::size_t i) {
    if (i == 1) {
      loss.tokens = in.whole();
    } else {
      (i == 0 ? loss.nats : loss.sum) = in.number();
    }
  });
  if (count != 3) in.refuse("an array of 3 numbers", text(count));
}

inline void read_schedule(JsonValues& in, ScheduleState& schedule) {
  const std::size_t count = in.array("an array of factor, best, epochs and waiting", [&](std::size_t i) {
    if (i < 2) {
      (i == 0 ? schedule.factor : schedule.best) = in.number();
    } else {
      (i == 2 ? schedule.epochs : schedule.waiting) = in.whole();
    }
  });
  if (count != 4) in.refuse("an array of 4 numbers", text(count));
}

inline EpochReport read_epoch(JsonValues& in) {
  EpochReport e;
  in.object({{"epoch", "a number", [&] { e.epoch = in.whole(); }},
             {"training", "an array", [&] { read_loss(in, e.training); }},
             {"validation", "an array",
              [&] {
                if (!in.is_null()) read_loss(in, e.validation.emplace());
              },
              false},
             {"measured", "a number", [&] { e.measured = in.number(); }, false},
             {"seconds", "a number", [&] { e.seconds = in.number(); }},
             {"rate", "a number", [&] { e.rate_factor = in.number(); }},
             {"best", "true or false", [&] { e.best = in.boolean(); }}});
  return e;
}

inline CheckpointState checkpoint_state_from(JsonValues in) {
  CheckpointState s;
  const auto read_epochs = [&] {
    in.array("an array of epochs", [&](std::size_t) { s.report.epochs.push_back(read_epoch(in)); });
  };
  const auto read_settings = [&] {
    in.members([&](const std::string& key) {
      if (!s.settings.emplace(key, in.string()).second) in.refuse_twice(key);
    });
  };
  in.object({{"epoch", "a number", [&] { s.epoch = in.whole(); }},
             {"batch", "a number", [&] { s.batch = in.whole(); }},
             {"batches", "a number", [&] { s.batches = in.whole(); }},
             {"optimizer_steps", "a number", [&] { s.optimizer_steps = in.whole(); }},
             {"schedule", "an array", [&] { read_schedule(in, s.schedule); }},
             {"running", "an array", [&] { read_loss(in, s.running); }},
             {"seconds", "a number", [&] { s.seconds = in.number(); }},
             {"best_epoch", "a number", [&] { s.report.best_epoch = in.whole(); }},
             {"epochs", "an array", read_epochs},
             {"settings", "an object", read_settings}});
  in.finish();
  return s;
}

/// The version of the files. The first one's random numbers were others, so that it cannot be resumed.
inline constexpr std::string_view checkpoint_format = "bahdanau-checkpoint/2";

inline void require_checkpoint(const std::filesystem::path& path,
                               const std::map<std::string, std::string, std::less<>>& metadata) {
  const auto format = metadata.find("format");
  if (format == metadata.end()) fail(path.string(), "a checkpoint", "a file without metadata \"format\"");
  const std::string expected = quote(checkpoint_format);
  if (format->second == expected) return;
  if (format->second == "\"bahdanau-checkpoint/1\"")
    fail(path.string(), "a checkpoint of format " + expected, format->second + ", of version 0.1",
         "its random numbers were others: finish that training with version 0.1, or start anew with "
         "resume = false (the tool: without --resume)");
  fail(path.string(), "a checkpoint of format " + expected, quote(format->second));
}

/// Throws where the numbers of a state contradict one another: a file has them, and epochs are looked up by
/// them.
inline void require_consistent(const std::filesystem::path& path, const CheckpointState& s) {
  const std::string where = path.string() + ": metadata \"state\"";
  require_equal(where, "reports of epochs:", s.epoch, s.report.epochs.size());
  for (std::size_t i = 0; i < s.report.epochs.size(); ++i)
    require_equal(where, "a report of epoch", i + 1, s.report.epochs[i].epoch);
  if (s.report.best_epoch > s.epoch || (s.report.best_epoch == 0 && s.epoch > 0))
    fail(where, "a best_epoch from " + text(std::min<std::uint64_t>(1, s.epoch)) + " to " + text(s.epoch),
         text(s.report.best_epoch));
  require_equal(where, "epochs in the schedule:", s.epoch, s.schedule.epochs);
  if (!(s.schedule.factor >= 0 && s.schedule.factor <= 1))
    fail(where, "a factor of the schedule from 0 to 1", number_text(s.schedule.factor));
}

/// Throws for the first setting that differs.
[[gnu::noinline]] inline void require_same_settings(const std::filesystem::path& path, const Settings& before,
                                                    const Settings& now) {
  const std::string* key = first_difference(now, before);
  if (key == nullptr) return;
  const std::string data = "data", validation = "validation";  // others may follow from them
  for (const std::string* first : {&validation, &data})
    if (setting(before, *first) != setting(now, *first)) key = first;
  // They come from the file; quoted without the quotes, ordinary ones stay as they are.
  const auto plain = [](const std::string& text) {
    const std::string quoted = quote(text);
    return quoted.substr(1, quoted.size() - 2);
  };
  fail(path.string(), plain(*key) + " " + plain(setting(before, *key)) + ", as when the checkpoint was made",
       plain(setting(now, *key)),
       "resume with the same settings and data, or start anew with resume = false (the tool: without "
       "--resume)");
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
  file.metadata("format", detail::quote(detail::checkpoint_format));
  file.metadata("state", detail::to_json(state).text());
  detail::for_blocks(blocks, [&](const std::string& prefix, const ParameterBlock<B>& block) {
    for (const auto& entry : list.entries())
      file.add(prefix + entry.name, {entry.parameter.shape.size()}, block.read(entry.parameter));
  });
  file.write(path);
}

/// Reads a checkpoint into the blocks; throws, before any of them changes, if it was made with other settings
/// or for another model, or if `check(state)` throws.
template <Backend B, class Check>
CheckpointState read_checkpoint(const std::filesystem::path& path, const detail::Settings& settings,
                                const ParameterList& list, const CheckpointBlocks<B>& blocks,
                                const Check& check) {
  const auto file = SafetensorsFile::open(path);
  detail::require_checkpoint(path, file.metadata());
  const auto found = file.metadata().find("state");
  if (found == file.metadata().end())
    fail(path.string(), "a checkpoint", "a file without metadata \"state\"");
  CheckpointState state =
      detail::checkpoint_state_from({path.string() + ": metadata \"state\"", found->second, /*max_depth=*/6});
  detail::require_same_settings(path, state.settings, settings);
  detail::require_consistent(path, state);
  check(state);
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
