// What other programs say of the sentences in `data/metrics.json`, which `make.py` has recorded there.
// A metric is held to the values of whole sets, and of each sentence alone.
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <bahdanau/metric/evaluation.hpp>

#include "support/catch.hpp"

namespace bahdanau::test {

inline const nlohmann::json& recorded_metrics() {
  static const auto values = nlohmann::json::parse(
      std::ifstream(std::filesystem::path(BAHDANAU_GOLDEN_DIR) / "../../metric/data/metrics.json"));
  return values;
}

/// The recorded value: within 1e-9 of it, relative, and exact where it is 0.
inline Approx recorded_value(const nlohmann::json& value) {
  return Approx(value.get<double>()).epsilon(1e-9).margin(1e-12);
}

/// Predictions with their references, and what is recorded of them.
struct RecordedSet {
  std::string name;
  std::vector<std::string> predictions;
  std::vector<std::vector<std::string>> references;
  nlohmann::json values;  // with "corpus", "sentences" and "signatures"
};

inline RecordedSet recorded_set(const std::string& name) {
  const nlohmann::json& set = recorded_metrics()["sets"][name];
  return {name, set["predictions"].get<std::vector<std::string>>(),
          set["references"].get<std::vector<std::vector<std::string>>>(), set};
}

/// Calls check(evaluation, values) for each set as a whole, and for each of its sentences.
template <Metric M, class Check>
void for_each_recorded(const M& metric, Check check) {
  for (const char* name : {"odd", "several", "phones", "long", "short"}) {
    const RecordedSet set = recorded_set(name);
    REQUIRE(set.predictions.size() == set.references.size());
    REQUIRE(set.predictions.size() == set.values["sentences"].size());
    Evaluation<M> all(metric);
    for (std::size_t i = 0; i < set.predictions.size(); ++i) {
      all.add(set.predictions[i], set.references[i]);
      INFO(name << ", sentence " << i << ": " << set.predictions[i] << " | " << set.references[i].front());
      Evaluation<M> alone(metric);
      alone.add(set.predictions[i], set.references[i]);
      check(alone, set.values["sentences"][i]);
    }
    INFO(name);
    check(all, set.values["corpus"]);
  }
}

/// Holds a metric to the values that are recorded under a name.
template <Metric M>
void check_recorded(const M& metric, const std::string& name) {
  std::size_t checked = 0;
  for_each_recorded(metric, [&](const Evaluation<M>& evaluation, const nlohmann::json& values) {
    if (!values.contains(name)) return;
    CHECK(evaluation.score() == recorded_value(values[name]));
    ++checked;
  });
  CHECK(checked >= 65);
}

/// Holds the signature to sacrebleu's, but for the version; of sets with one reference, and with several.
template <Metric M>
void check_signature(const M& metric, const std::string& name) {
  for (const char* set_name : {"odd", "several"}) {
    const RecordedSet set = recorded_set(set_name);
    Evaluation<M> evaluation(metric);
    for (std::size_t i = 0; i < set.predictions.size(); ++i)
      evaluation.add(set.predictions[i], set.references[i]);
    const std::string signature = evaluation.signature();
    const std::size_t version = signature.find("|version:bahdanau-");
    REQUIRE(version != signature.npos);
    CHECK(signature.substr(0, version) == set.values["signatures"][name].template get<std::string>());
  }
}

}  // namespace bahdanau::test
