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
void Metrics::each_result(const bahdanau::TextSide& target, Write write) const {
  for (const std::string& name : options_.names) {
    auto evaluation = bahdanau::evaluation_named(name, !target.cased());
    for (const Sentence& sentence : sentences_) evaluation.add(sentence.prediction, sentence.references);
    bahdanau::MetricResult result = evaluation.result();
    // References in the model's own spelling are other ones for a model that spells otherwise.
    if (!target.cased()) {
      result.signature.append("|refs:").append(bahdanau::name(target.tokens));
      if (target.language != bahdanau::Language::none)
        result.signature.append("+").append(bahdanau::name(target.language));
    }
    write(result);
  }
}

double Metrics::error(const bahdanau::TextSide& target) const {
  const std::string& name = options_.names.front();
  auto evaluation = bahdanau::evaluation_named(name, !target.cased());
  for (const Sentence& sentence : sentences_) evaluation.add(sentence.prediction, sentence.references);
  return bahdanau::counts_errors(name) ? evaluation.score() : 100 - evaluation.score();
}

std::string Metrics::lines(const bahdanau::TextSide& target) const {
  std::string out;
  each_result(target, [&](const bahdanau::MetricResult& result) {
    out += result.name + "\t" + fixed(result.score, 2) + "\t[" + fixed(result.interval.low, 2) + ", " +
           fixed(result.interval.high, 2) + "]\t" + result.signature + "\n";
  });
  return out;
}

std::string Metrics::json_text(const bahdanau::TextSide& target) const {
  std::string out;
  each_result(target, [&](const bahdanau::MetricResult& result) {
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

std::string reference_for(const bahdanau::Vocabularies& v, const std::string& reference) {
  return v.text.target_side().cased() ? reference : v.target_text(v.target_tokens(reference));
}

std::vector<std::string> metric_names() { return bahdanau::metric_names(); }

}  // namespace cli
