// bahdanau: the command-line tool. This file turns exceptions into exit codes:
// 0 fine, 1 bad input or a file that cannot be used, 2 wrong usage.
#include <csignal>
#include <exception>
#include <iostream>
#include <new>
#include <sstream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <bahdanau/core/quote.hpp>
#include <bahdanau/version.hpp>

#include "arguments.hpp"
#include "output.hpp"

namespace {

constexpr int fine = 0, bad_input = 1, wrong_usage = 2;

std::string version() {
  return "bahdanau " + std::to_string(BAHDANAU_VERSION_MAJOR) + "." + std::to_string(BAHDANAU_VERSION_MINOR) +
         "." + std::to_string(BAHDANAU_VERSION_PATCH);
}

int run(int argc, char** argv) {
  CLI::App app("Recurrent encoder-decoder models with attention.", "bahdanau");
  app.set_version_flag("--version", version());
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 fine, 1 bad input or a file that cannot be used, 2 wrong usage.\n"
      "bahdanau COMMAND --help says more.");
  cli::add_commands(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help, --version
    std::ostringstream answer;
    app.exit(asked, answer, answer);
    cli::write(answer.str());
  } catch (const CLI::ParseError& e) {
    const auto commands = app.get_subcommands();
    const std::string command = commands.empty() ? "" : commands.front()->get_name() + " ";
    // A word that is not known explains what is missing: `--modle` why there is no `--model`.
    const std::vector<std::string> unknown = app.remaining(true);
    const std::string problem = unknown.empty() ? e.what()
                                                : std::string("expected ") +
                                                      (commands.empty() ? "a command" : "known options") +
                                                      ", got " + bahdanau::detail::quote(unknown.front());
    std::cerr << "bahdanau: " << problem << "; see bahdanau " << command << "--help\n";
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
  } catch (const std::bad_alloc&) {
    std::cerr << "bahdanau: expected more memory than there is; a smaller model or --batch needs less\n";
    return bad_input;
  } catch (const std::exception& e) {
    std::cerr << "bahdanau: " << e.what() << '\n';
    return bad_input;
  }
}
