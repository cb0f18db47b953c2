// bahdanau: the command-line tool. This file turns exceptions into exit codes: 0 fine, 1 bad input or a file
// that cannot be used, 2 wrong usage, 130 or 143 interrupted by Ctrl-C or SIGTERM.
#include <chrono>
#include <csignal>
#include <exception>
#include <iostream>
#include <new>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>

#include <bahdanau/backend/blas.hpp>
#include <bahdanau/core/quote.hpp>
#include <bahdanau/kernel/instructions.hpp>
#include <bahdanau/version.hpp>

#include "arguments.hpp"
#include "interrupt.hpp"
#include "output.hpp"
#include "processes.hpp"

namespace {

constexpr int fine = 0, bad_input = 1, wrong_usage = 2;

std::string version() {
  return "bahdanau " + bahdanau::detail::text(BAHDANAU_VERSION_MAJOR) + "." +
         bahdanau::detail::text(BAHDANAU_VERSION_MINOR) + "." +
         bahdanau::detail::text(BAHDANAU_VERSION_PATCH) +
         "\ninstructions: " + std::string(bahdanau::name(bahdanau::instructions())) +
         "\nOpenBLAS's core: " + bahdanau::blas::core();
}

int run(int argc, char** argv) {
  CLI::App app("Recurrent encoder-decoder models with attention.", "bahdanau");
  app.set_version_flag("--version", [] { return version(); });
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 fine, 1 bad input or a file that cannot be used, 2 wrong usage,\n"
      "130 and 143 interrupted by Ctrl-C and SIGTERM.\n"
      "bahdanau COMMAND --help says more.");
  cli::add_commands(app);
  // Instructions that cannot be had are said before a command begins: later the line that it reads would be
  // blamed.
  for (CLI::App* command : app.get_subcommands({}))
    command->preparse_callback([](std::size_t) { bahdanau::instructions(); });
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help, --version
    std::ostringstream answer;
    app.exit(asked, answer, answer);
    cli::write(answer.str());
  } catch (const CLI::ParseError& e) {
    if (cli::Launcher::rank() > 0) {
      // The first process says it: launchers end all that are left as soon as one has failed.
      std::this_thread::sleep_for(std::chrono::seconds(2));
      return wrong_usage;
    }
    const auto commands = app.get_subcommands();
    const std::string command = commands.empty() ? "" : commands.front()->get_name() + " ";
    // A word that is not known explains what is missing: `--modle` why there is no `--model`.
    const std::vector<std::string> unknown = app.remaining(true);
    const std::string problem = unknown.empty() ? e.what()
                                                : std::string("expected ") +
                                                      (commands.empty() ? "a command" : "known options") +
                                                      ", got " + bahdanau::detail::quote(unknown.front());
    cli::complain(problem.find('\n') == problem.npos ? problem + "; see bahdanau " + command + "--help"
                                                     : problem);
    return wrong_usage;
  }
  return fine;
}

/// A word as a shell reads it back.
std::string shell_word(std::string_view word) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%";
  if (!word.empty() && word.find_first_not_of(plain) == word.npos) return std::string(word);
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

/// The same command, to go on from the checkpoint.
std::string command_to_resume(int argc, char** argv) {
  std::string line =
      cli::Launcher::size() > 1 ? "mpirun -n " + bahdanau::detail::text(cli::Launcher::size()) : "";
  bool resumes = false;
  for (const char* word : std::span(argv, static_cast<std::size_t>(argc))) {
    line += (line.empty() ? "" : " ") + shell_word(word);
    resumes = resumes || word == std::string_view("--resume");
  }
  return resumes ? line : line + " --resume";
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // cli::write says so instead
  std::signal(SIGXFSZ, SIG_IGN);  // a file beyond its limit is an error like a full disk
  std::ios::sync_with_stdio(false);
  try {
    return run(argc, argv);
  } catch (const cli::SaidElsewhere& e) {
    return e.interrupted != 0 ? 128 + e.interrupted : bad_input;
  } catch (const cli::ClosedPipe&) {
    return fine;
  } catch (const cli::Interrupted& e) {
    cli::complain(e.resumable ? e.what + "; to go on:\n" + command_to_resume(argc, argv) : e.what);
    return 128 + e.signal;  // as a shell says of what a signal has ended
  } catch (const std::bad_alloc&) {
    cli::complain("expected more memory than there is; a smaller model, --batch or --max-length needs less");
    return bad_input;
  } catch (const std::exception& e) {
    cli::complain(e.what());
    return bad_input;
  }
}
