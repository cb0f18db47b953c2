// From the names of policies to the models that have them.
#include "registry.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <bahdanau/core/error.hpp>
#include <bahdanau/core/quote.hpp>
#include <bahdanau/io/model_description.hpp>

namespace cli {
namespace {

/// A line for each combination.
std::string listed(const Combinations& all) {
  std::string lines;
  for (const Combination& one : all) {
    std::string line;
    for (const std::string_view name : one.policies.all()) line.append(line.empty() ? "" : ", ").append(name);
    if (!one.architecture.empty()) line.append(" (").append(one.architecture).append(")");
    lines += "\n  " + line;
  }
  return lines;
}

}  // namespace

const Combinations& compiled_in() {
  static const Combinations all = [] {
    Combinations joined;
    for (const auto one : {
             d2l_gru,
             d2l_gru_bidirectional,
             d2l_gru_scaled_dot,
#ifndef BAHDANAU_CLI_GRU_ALONE
             d2l_lstm,
             d2l_lstm_bidirectional,
             d2l_lstm_scaled_dot,
             rnnsearch,
             cho,
             luong,
             gehring,
             nematus,
             sutskever,
             gru_heads,
#ifndef BAHDANAU_CLI_PAPERS
             gru_dot,
             gru_general,
             gru_local,
             gru_coverage,
             gru_plain,
             gru_fixed_context,
             lstm_dot,
             lstm_general,
             lstm_local,
             lstm_coverage,
             lstm_heads,
             d2l_rnn,
             d2l_rnn_scaled_dot,
#endif
#endif
         })
      joined.push_back(one());
    return joined;
  }();
  return all;
}

const Combination& combination_of(std::string_view where, const PolicyNames& policies) {
  const Combinations& all = compiled_in();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Combination& one) { return one.policies == policies; });
  if (found != all.end()) return *found;
  std::string got;  // a file's names may be anything
  for (const std::string_view name : policies.all())
    got += (got.empty() ? "" : ", ") + bd::detail::quote(name);
  bd::fail(where, "policies that are compiled into the tool together", got,
           "others need a program of one's own; the tool has" + listed(all));
}

const Combination& architecture_of(std::string_view where, std::string_view name) {
  std::string choices;
  for (const Combination& one : compiled_in()) {
    if (one.architecture.empty()) continue;
    if (one.architecture == name) return one;
    choices += (choices.empty() ? "" : ", ") + bd::detail::quote(one.architecture);
  }
  bd::fail(where, "an architecture (one of " + choices + ")", bd::detail::quote(name));
}

std::vector<std::string> architectures() {
  std::vector<std::string> names;
  for (const Combination& one : compiled_in())
    if (!one.architecture.empty()) names.emplace_back(one.architecture);
  return names;
}

std::vector<std::string> names_of(std::string PolicyNames::*family) {
  std::vector<std::string> names;
  for (const Combination& one : compiled_in())
    if (std::find(names.begin(), names.end(), one.policies.*family) == names.end())
      names.push_back(one.policies.*family);
  return names;
}

std::unique_ptr<FrozenModel> load_any_model(const std::filesystem::path& path) {
  const auto d = bd::ModelDescription::read(bd::SafetensorsFile::open(path));
  return combination_of(path.string(), {d.cell, d.score, d.encoder, d.decoder, d.readout}).load(path);
}

std::unique_ptr<TrainableModel> new_any_model(const PolicyNames& policies, const NewModel& made_from) {
  return combination_of("model", policies).create(made_from);
}

}  // namespace cli
