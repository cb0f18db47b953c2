// The metrics of bahdanau evaluate: chosen by name, counted over sentences, written with their intervals.
#include "metrics.hpp"

#include <cstddef>
#include <string>
#include <vector>

#include <bahdanau/metric/any_evaluation.hpp>

#include "json.hpp"
#include "output.hpp"

namespace cli {

void Metrics::add(const std::string& source, const std::string& prediction, const std::string& reference) {
  if (options_.names.empty()) return;
  if (options_.join_sources) {
    const auto [found, is_new] = of_source_.try_emplace(source, sentences_.size());
    if (!is_new) return sentences_[found->second].references.push_back(reference);
  }
  sentences_.push_back({prediction, {reference}});
}

template <class Write>
void Metrics::each_result(bool lowercase, Write write) const {
  for (const std::string& name : options_.names) {
    auto evaluation = bahdanau::evaluation_named(name, lowercase);
    for (const Sentence& sentence : sentences_) evaluation.add(sentence.prediction, sentence.references);
    write(evaluation.result());
  }
}

std::string Metrics::lines(bool lowercase) const {
  std::string out;
  each_result(lowercase, [&](const bahdanau::MetricResult& result) {
    out += result.name + "\t" + fixed(result.score, 2) + "\t[" + fixed(result.interval.low, 2) + ", " +
           fixed(result.interval.high, 2) + "]\t" + result.signature + "\n";
  });
  return out;
}

std::string Metrics::json_text(bool lowercase) const {
  std::string out;
  each_result(lowercase, [&](const bahdanau::MetricResult& result) {
    out += out.empty() ? R"(,"metrics":[)" : ",";
    json::append(out += R"({"name":)", result.name);
    json::append(out += R"(,"score":)", result.score);
    json::append(out += R"(,"low":)", result.interval.low);
    json::append(out += R"(,"high":)", result.interval.high);
    json::append(out += R"(,"signature":)", result.signature);
    out += '}';
  });
  return out.empty() ? out : out + "]";
}

std::vector<std::string> metric_names() { return bahdanau::metric_names(); }

}  // namespace cli
