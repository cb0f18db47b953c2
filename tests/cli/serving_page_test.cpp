// What docs/serving.md says of HTTP: its commands, its answers and its table of bounds, beside a real server.
#include <cstddef>
#include <numeric>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/serving.hpp"
#include "support/catch.hpp"
#include "support/golden.hpp"

using namespace bahdanau::test;
using nlohmann::json;

namespace {

std::vector<std::string> page_lines() { return lines_in(contents(golden_path("../../../docs/serving.md"))); }

/// The blocks of JSON, in their order.
std::vector<json> examples() {
  std::vector<json> found;
  const std::vector<std::string> lines = page_lines();
  for (std::size_t i = 0; i + 1 < lines.size(); ++i)
    if (lines[i] == "```json") found.push_back(json::parse(lines[i + 1]));
  return found;
}

/// A command of curl: its path, and its body, if it has one.
std::vector<std::pair<std::string, std::string>> curls() {
  const std::string before = "curl -s http://127.0.0.1:8080", data = " -d '";
  std::vector<std::pair<std::string, std::string>> found;
  for (const std::string& line : page_lines()) {
    if (!line.starts_with(before)) continue;
    const std::string rest = line.substr(before.size());
    const std::size_t at = rest.find(data);
    if (at == rest.npos)
      found.emplace_back(rest, "");
    else
      found.emplace_back(rest.substr(0, at),
                         rest.substr(at + data.size(), rest.size() - at - data.size() - 1));
  }
  return found;
}

/// Keys, and how long lists are, with kinds in place of values.
json shape(const json& value) {
  if (value.is_number()) return "number";
  if (!value.is_structured()) return value.type_name();
  json out = value;
  for (json& each : out) each = shape(each);
  return out;
}

}  // namespace

TEST_CASE("the page's commands are answered as it says", "[cli][serve][docs]") {
  if (!serves()) return;
  ServerProcess server(with());
  REQUIRE(server.port() > 0);
  const auto asked = curls();
  REQUIRE(asked.size() == 3);
  std::vector<json> answers;
  for (const auto& [path, body] : asked) {
    CAPTURE(path, body);
    const HttpAnswer answer = body.empty() ? server.ask("GET", path) : server.ask("POST", path, body);
    REQUIRE(answer.status == 200);
    answers.push_back(json::parse(answer.body));
  }
  CHECK(answers[1]["results"].size() == 2);
  CHECK(answers[1]["results"][0]["translations"].size() == 2);

  const std::vector<json> shown = examples();
  REQUIRE(shown.size() == 2);
  CHECK(shape(shown[0]) == shape(answers[0]));
  CHECK(shape(shown[1]) == shape(answers[2]));

  for (const char* key : {"status", "version"}) CHECK(shown[1][key] == answers[2][key]);
  for (const char* key : {"cell", "score", "encoder", "decoder", "readout"})
    CHECK(shown[1]["model"][key] == answers[2]["model"][key]);

  // The same words, and numbers that can be true.
  const json &example = shown[0]["results"][0]["translations"][0],
             &real = answers[0]["results"][0]["translations"][0];
  for (const char* key : {"source", "target", "text"}) CHECK(example[key] == real[key]);
  const std::vector<double> log_probs = example["log_probs"];
  CHECK(example["score"].get<double>() == Approx(std::accumulate(log_probs.begin(), log_probs.end(), 0.0)));
  for (const std::vector<double> row : example["attention"])
    CHECK(std::accumulate(row.begin(), row.end(), 0.0) == Approx(1));
}

TEST_CASE("the page has a server's bounds as they are", "[cli][serve][docs]") {
  const std::string help = run_tool("serve --help").out;
  std::size_t bounds = 0;
  for (const std::string& line : page_lines()) {
    if (!line.starts_with("| `--")) continue;
    std::istringstream cells(line);
    std::string bar, option, default_value;
    cells >> bar >> option >> bar >> default_value;
    option = option.substr(1, option.size() - 2);
    CAPTURE(line);
    const std::size_t at = help.find("\n  " + option + " ");
    REQUIRE(at != help.npos);
    CHECK(help.substr(at + 1, help.find('\n', at + 1) - at).find("=" + default_value + " ") != help.npos);
    ++bounds;
  }
  CHECK(bounds == 10);
}
