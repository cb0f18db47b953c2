// The commands of the tool: what each is told, and the function that does it.
// One file each; main.cpp turns arguments into these options.
#pragma once

#include <cstddef>
#include <filesystem>

namespace cli {

/// `bahdanau score`: how probable given translations are, and what was attended to.
struct ScoreOptions {
  std::filesystem::path model;
  std::filesystem::path data;  // `source TAB target` lines; `-` is standard input
  bool json = false;
  std::size_t batch = 32;
};
void score(const ScoreOptions& options);

}  // namespace cli
