// bahdanau compare: how near translations in a file are to references, and two such files to one another.
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include <bahdanau/metric/any_evaluation.hpp>
#include <bahdanau/metric/bootstrap.hpp>
#include <bahdanau/metric/evaluation.hpp>

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

/// A metric's line for one file, or for two. Text is compared as it is written, case included.
std::string line_of(const std::string& metric, const Compared& texts) {
  std::vector<bd::AnyEvaluation> evaluations;
  for (const Texts& system : texts.systems) {
    bd::AnyEvaluation& evaluation = evaluations.emplace_back(bd::evaluation_named(metric));
    for (std::size_t i = 0; i < system.size(); ++i)
      evaluation.add(system[i], std::span(&texts.references[i], 1));
  }
  const bd::MetricResult result = evaluations[0].result();
  std::string line = result.name + "\t" + fixed(result.score, 2) + "\t";
  if (evaluations.size() == 1) return line + interval_text(result.interval) + "\t" + result.signature + "\n";
  const bd::Comparison both = evaluations[0].compare(evaluations[1]);
  return line + fixed(both.second, 2) + "\t" + fixed(both.difference, 2) + "\t" +
         interval_text(both.interval) + "\tp " + fixed(both.p_value, 3) + "\t" + result.signature + "\n";
}

}  // namespace

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
  for (const std::string& name : options.metrics) out += line_of(name, texts);
  write(out);
}

}  // namespace cli
