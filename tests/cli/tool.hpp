// Runs the built command-line tool as anyone would: through a shell, with files for its three streams.
// The tests see exit codes, standard output and standard error, and nothing of the inside.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include <sys/wait.h>

#include "support/file_bytes.hpp"
#include "support/temporary_directory.hpp"

namespace bahdanau::test {

/// What a run of the tool gave.
struct Run {
  int code = 0;  // -1 if it did not end by itself
  std::string out, err;
};

/// A path in a shell's words.
inline std::string shell_word(const std::filesystem::path& path) { return "'" + path.string() + "'"; }

/// Runs `command` in a shell, in which $TOOL is the tool.
inline Run run_shell(const std::string& command, const std::string& input = {}) {
  const TemporaryDirectory files;
  put(files / "in", input);
  const std::string line = "TOOL='" BAHDANAU_CLI "'\n{ " + command + "\n} < " + shell_word(files / "in") +
                           " > " + shell_word(files / "out") + " 2> " + shell_word(files / "err");
  const int status = std::system(line.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, contents(files / "out"), contents(files / "err")};
}

/// Runs the tool with these arguments, in a shell's words.
inline Run run_tool(const std::string& arguments, const std::string& input = {}) {
  return run_shell("\"$TOOL\" " + arguments, input);
}

}  // namespace bahdanau::test
