// bahdanau: the command-line tool. This file turns arguments into options, and exceptions into exit codes:
// 0 fine, 1 bad input or a file that cannot be used, 2 wrong usage.
#include <csignal>
#include <exception>
#include <iostream>
#include <sstream>
#include <string>

#include <CLI/CLI.hpp>

#include <bahdanau/version.hpp>

#include "commands.hpp"
#include "output.hpp"

namespace {

constexpr int fine = 0, bad_input = 1, wrong_usage = 2;

std::string version() {
  return "bahdanau " + std::to_string(BAHDANAU_VERSION_MAJOR) + "." + std::to_string(BAHDANAU_VERSION_MINOR) +
         "." + std::to_string(BAHDANAU_VERSION_PATCH);
}

void add_score(CLI::App& app, cli::ScoreOptions& options) {
  CLI::App* command = app.add_subcommand("score", "How probable given translations are, token by token");
  command->add_option("--model", options.model, "Model file (.safetensors)")->required();
  command->add_option("--data", options.data, "Lines of source TAB target; - is standard input")->required();
  command->add_flag("--json", options.json,
                    "One JSON object a line, with log-probabilities and attention; otherwise the score, the "
                    "source and the target");
  command->add_option("--batch", options.batch, "Sentence pairs scored at a time")
      ->check(CLI::Range(1, 65536))
      ->capture_default_str();
  command->callback([&options] { cli::score(options); });
}

int run(int argc, char** argv) {
  CLI::App app("Recurrent encoder-decoder models with attention.", "bahdanau");
  app.set_version_flag("--version", version());
  app.require_subcommand(1);
  cli::ScoreOptions score;
  add_score(app, score);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help, --version
    std::ostringstream answer;
    app.exit(asked, answer, answer);
    cli::write(answer.str());
  } catch (const CLI::ParseError& e) {
    const auto commands = app.get_subcommands();
    const std::string command = commands.empty() ? "" : commands.front()->get_name() + " ";
    std::cerr << "bahdanau: " << e.what() << "; see bahdanau " << command << "--help\n";
    return wrong_usage;
  }
  return fine;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // cli::write says so instead
  std::ios::sync_with_stdio(false);
  try {
    return run(argc, argv);
  } catch (const cli::ClosedPipe&) {
    return fine;
  } catch (const std::exception& e) {
    std::cerr << "bahdanau: " << e.what() << '\n';
    return bad_input;
  }
}
