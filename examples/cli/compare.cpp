// bahdanau compare: how near translations in a file are to references, and two such files to one another.
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <bahdanau/metric/bleu.hpp>
#include <bahdanau/metric/chrf.hpp>
#include <bahdanau/metric/error_rate.hpp>
#include <bahdanau/metric/evaluation.hpp>
#include <bahdanau/metric/exact_match.hpp>
#include <bahdanau/metric/rouge.hpp>
#include <bahdanau/metric/ter.hpp>

#include "commands.hpp"
#include "input.hpp"
#include "output.hpp"

namespace cli {
namespace {

using Texts = std::vector<std::string>;

Texts read_texts(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file || std::filesystem::is_directory(path))
    bd::fail(path.string(), "a file that can be read", "none");
  SentenceReader reader(file, path.string());
  Texts texts;
  for (std::string line; reader.next(line);) texts.push_back(line);
  return texts;
}

std::string interval_text(const bd::Interval& interval) {
  return "[" + fixed(interval.low, 2) + ", " + fixed(interval.high, 2) + "]";
}

/// What is compared.
struct Compared {
  Texts references;
  std::vector<Texts> systems;  // one or two, of as many sentences
};

/// A line for one file, or for two.
template <bd::Metric M>
std::string line_of(const M& metric, const Compared& texts) {
  const auto& [references, systems] = texts;
  const auto first = bd::evaluation_of(metric, systems[0], references);
  const bd::MetricResult result = first.result();
  std::string line = result.name + "\t" + fixed(result.score, 2) + "\t";
  if (systems.size() == 1) return line + interval_text(result.interval) + "\t" + result.signature + "\n";
  const auto second = bd::evaluation_of(metric, systems[1], references);
  const bd::Comparison both = bd::paired_bootstrap(metric, first.statistics(), second.statistics());
  return line + fixed(both.second, 2) + "\t" + fixed(both.difference, 2) + "\t" +
         interval_text(both.interval) + "\tp " + fixed(both.p_value, 3) + "\t" + result.signature + "\n";
}

/// A metric by its name. Text is compared as it is written, case included.
struct ComparedMetric {
  std::string_view name;
  std::string (*line)(const Compared& texts);
};

constexpr ComparedMetric compared_metrics[] = {
    {"bleu", [](const Compared& texts) { return line_of(bd::Bleu{}, texts); }},
    {"bleu-char",
     [](const Compared& texts) { return line_of(bd::Bleu{.tokens = bd::BleuTokens::characters}, texts); }},
    {"bleu-none",
     [](const Compared& texts) { return line_of(bd::Bleu{.tokens = bd::BleuTokens::none}, texts); }},
    {"chrf", [](const Compared& texts) { return line_of(bd::Chrf{}, texts); }},
    {"chrf++", [](const Compared& texts) { return line_of(bd::ChrfPlusPlus{}, texts); }},
    {"ter", [](const Compared& texts) { return line_of(bd::Ter{}, texts); }},
    {"wer", [](const Compared& texts) { return line_of(bd::WordErrorRate{}, texts); }},
    {"cer", [](const Compared& texts) { return line_of(bd::CharacterErrorRate{}, texts); }},
    {"per", [](const Compared& texts) { return line_of(bd::PhoneErrorRate{}, texts); }},
    {"dictionary-wer", [](const Compared& texts) { return line_of(bd::DictionaryWordErrorRate{}, texts); }},
    {"exact", [](const Compared& texts) { return line_of(bd::ExactMatch{}, texts); }},
    {"rouge-1", [](const Compared& texts) { return line_of(bd::Rouge1{}, texts); }},
    {"rouge-2", [](const Compared& texts) { return line_of(bd::Rouge2{}, texts); }},
    {"rouge-l", [](const Compared& texts) { return line_of(bd::RougeL{}, texts); }}};

}  // namespace

std::vector<std::string> compared_metric_names() {
  std::vector<std::string> names;
  for (const ComparedMetric& metric : compared_metrics) names.emplace_back(metric.name);
  return names;
}

void compare(const CompareOptions& options) {
  Compared texts{read_texts(options.reference), {}};
  const std::size_t count = texts.references.size();
  for (const std::filesystem::path& file : options.files) {
    const Texts& lines = texts.systems.emplace_back(read_texts(file));
    if (lines.size() != count)
      bd::fail(file.string(),
               "as many lines as " + options.reference.string() + ", " + bd::detail::text(count),
               bd::detail::text(lines.size()));
  }
  std::string out;
  for (const std::string& name : options.metrics)
    for (const ComparedMetric& metric : compared_metrics)
      if (metric.name == name) out += metric.line(texts);
  write(out);
}

}  // namespace cli
