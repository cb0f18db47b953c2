// What the tests of `bahdanau serve` share: whether there is one, and what they start and ask it with.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/server.hpp"
#include "cli/trained.hpp"
#include "support/catch.hpp"

namespace bahdanau::test {

/// Whether the tool was built with a server; one without says so.
inline bool serves() {
  static const std::string said = run_tool("serve --model /nowhere").err;
  if (said.find("cpp-httplib") == said.npos) return true;
  CHECK_THAT(said, Catch::Matchers::ContainsSubstring("libcpp-httplib-dev"));
  return false;
}

/// The options of a server of the trained model.
inline std::vector<std::string> with(std::vector<std::string> arguments = {}) {
  arguments.insert(arguments.begin(), {"--model", trained_model().string()});
  return arguments;
}

/// A request for one sentence.
inline std::string source(const std::string& sentence) { return nlohmann::json{{"source", sentence}}.dump(); }

}  // namespace bahdanau::test
