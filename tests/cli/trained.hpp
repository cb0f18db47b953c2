// A tiny corpus, and a model that the tool itself has trained on it, once for all tests that only use one.
#pragma once

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/tool.hpp"

namespace bahdanau::test {

/// Twelve pairs, every word at least twice.
inline const std::string tiny_pairs =
    "Go.\tVa !\nRun.\tCours !\nI go.\tJe vais.\nI run.\tJe cours.\nHe goes.\tIl va.\nHe runs.\tIl court.\n"
    "I see him.\tJe le vois.\nHe sees him.\tIl le voit.\nI see it.\tJe le vois.\nGo now!\tVa maintenant !\n"
    "Run now!\tCours maintenant !\nHe runs now.\tIl court maintenant.\n";

/// A model small enough to train in no time.
inline const std::string small =
    " --embed 8 --hidden 8 --layers 1 --batch 4 --min-frequency 1 --max-length 8 ";

/// Trains on a file of pairs in a folder; the model is called `m`.
inline Run train_in(const TemporaryDirectory& files, const std::string& arguments,
                    const std::string& pairs = tiny_pairs) {
  put(files / "pairs.tsv", pairs);
  return run_tool("train --data " + shell_word(files / "pairs.tsv") + " --model " + shell_word(files / "m") +
                  small + arguments);
}

/// A model that has learnt the pairs by heart.
inline const std::filesystem::path& trained_model() {
  static const TemporaryDirectory files;
  static const std::filesystem::path path = [] {
    train_in(files, "--quiet --epochs 100 --rate 0.02 --dropout 0 --seed 1");
    return files / "m";
  }();
  return path;
}

/// Runs a command with that model.
inline Run with_model(const std::string& command, const std::string& arguments,
                      const std::string& input = {}) {
  return run_tool(command + " --model " + shell_word(trained_model()) + " " + arguments, input);
}

inline std::vector<std::string> lines_in(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

inline std::vector<nlohmann::json> json_lines(const std::string& text) {
  std::vector<nlohmann::json> lines;
  for (const std::string& line : lines_in(text)) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

}  // namespace bahdanau::test
