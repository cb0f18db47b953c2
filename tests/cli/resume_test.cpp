// Training that is killed, with a real SIGKILL and at any moment, and resumed: the same bytes in the end.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/tool.hpp"
#include "cli/trained.hpp"
#include "support/catch.hpp"

using namespace bahdanau::test;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
namespace fs = std::filesystem;

namespace {

using Milliseconds = std::chrono::milliseconds;

/// A training in a folder of its own.
struct Job {
  TemporaryDirectory files;
  std::vector<std::string> settings;

  explicit Job(std::vector<std::string> s) : settings(std::move(s)) { put(files / "pairs.tsv", tiny_pairs); }
  fs::path model() const { return files / "m"; }
  fs::path checkpoint() const { return files / "m.checkpoint"; }
  /// A kill may fall between the two: a model that is written, a checkpoint that is still to be removed.
  bool finished() const { return fs::exists(model()) && !fs::exists(checkpoint()); }

  std::vector<std::string> arguments() const {
    std::vector<std::string> all = {"bahdanau",        "train",
                                    "--data",          (files / "pairs.tsv").string(),
                                    "--model",         model().string(),
                                    "--embed",         "8",
                                    "--hidden",        "8",
                                    "--layers",        "2",
                                    "--batch",         "4",
                                    "--min-frequency", "1",
                                    "--epochs",        "150",
                                    "--quiet",         "--resume"};
    all.insert(all.end(), settings.begin(), settings.end());
    return all;
  }

  /// Starts the tool itself, with no shell between: the signal must reach it. What it says goes to a file.
  pid_t start(bool quiet = true) const {
    std::vector<std::string> words = arguments();
    if (!quiet) std::erase(words, "--quiet");
    const pid_t child = ::fork();
    if (child != 0) return child;
    const int said = ::open((files / "said").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::dup2(said, STDERR_FILENO);
    std::vector<char*> raw;
    for (const std::string& word : words) raw.push_back(const_cast<char*>(word.c_str()));
    raw.push_back(nullptr);
    ::execv(BAHDANAU_CLI, raw.data());
    ::_exit(127);
  }

  /// Runs until it ends, and says how.
  int run() const {
    int status = 0;
    ::waitpid(start(), &status, 0);
    return status;
  }

  /// Waits until `when()`, but not for ever.
  template <class When>
  void wait_for(When when, Milliseconds at_most = Milliseconds(20000)) const {
    const auto end = std::chrono::steady_clock::now() + at_most;
    while (!when() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  }

  /// Runs until `when()` or for so long, then kills it; says whether it was still alive.
  template <class When>
  bool run_and_kill(Milliseconds at_most, When when) const {
    const pid_t child = start();
    const auto end = std::chrono::steady_clock::now() + at_most;
    while (!when() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(Milliseconds(1));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFSIGNALED(status);
  }
};

/// The models of epochs beside a model, by name.
std::map<std::string, std::string> epochs_of(const Job& job) {
  std::map<std::string, std::string> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(job.files.path()))
    if (const std::string name = entry.path().filename().string(); name.starts_with("m.epoch-"))
      files.emplace(name, contents(entry.path()));
  return files;
}

void check_kills(const std::vector<std::string>& settings) {
  const Job whole(settings);
  REQUIRE(whole.run() == 0);
  const std::string expected = contents(whole.model());
  REQUIRE_FALSE(expected.empty());

  const Job job(settings);
  int killed = 0;
  const auto never = [] { return false; };
  killed += job.run_and_kill(Milliseconds(2), never);  // before it has done anything
  killed += job.run_and_kill(Milliseconds(20000), [&] { return fs::exists(job.checkpoint()); });
  CHECK(killed == 2);
  CHECK(fs::exists(job.checkpoint()));
  CHECK_FALSE(fs::exists(job.model()));
  // Further kills fall wherever they fall: into a batch, into a checkpoint that is being written.
  for (const int delay : {25, 60, 33, 90, 47})
    if (!job.finished()) killed += job.run_and_kill(Milliseconds(delay), never);
  if (!job.finished()) REQUIRE(job.run() == 0);
  CHECK(contents(job.model()) == expected);
  CHECK_FALSE(fs::exists(job.checkpoint()));
  CHECK(epochs_of(job) == epochs_of(whole));
  INFO(killed << " kills");
}

}  // namespace

TEST_CASE("training that is killed and resumed ends with the same bytes", "[cli][train][resume]") {
  check_kills({});
}

TEST_CASE("so does one with a validation set that stops it early", "[cli][train][resume][lstm]") {
  check_kills({"--validation", "0.25", "--patience", "60", "--cell", "lstm", "--decay-patience", "5"});
}

TEST_CASE("and one that keeps the models of its last epochs, with the same ones", "[cli][train][resume]") {
  check_kills({"--keep", "3"});
}

TEST_CASE("what ends a training between an epoch and its model leaves neither a hole nor one too many",
          "[cli][train][resume]") {
  const std::vector<std::string> settings = {"--keep", "3", "--epochs", "6"};
  const Job whole(settings), job(settings);
  REQUIRE(whole.run() == 0);
  const auto expected = epochs_of(whole);
  CHECK(expected.size() == 3);
  CHECK(expected.contains("m.epoch-6"));
  // The model of the last epoch, whose checkpoint always comes, cannot be written.
  fs::create_directory(job.files / "m.epoch-6");
  CHECK(job.run() != 0);
  CHECK(fs::exists(job.checkpoint()));
  CHECK_FALSE(fs::exists(job.model()));
  fs::remove(job.files / "m.epoch-6");
  // A kill before an old one was removed, and a longer training before this one.
  put(job.files / "m.epoch-2", "old");
  put(job.files / "m.epoch-20", "old");
  put(job.files / "m.epoch-2.txt", "not ours");
  put(job.files / "m.epoch-x", "nor this");
  REQUIRE(job.run() == 0);
  CHECK(contents(job.model()) == contents(whole.model()));
  CHECK(fs::remove(job.files / "m.epoch-2.txt"));
  CHECK(fs::remove(job.files / "m.epoch-x"));
  CHECK(epochs_of(job) == expected);
}

TEST_CASE("killed after the last checkpoint, it only writes the model and tidies up",
          "[cli][train][resume]") {
  const std::vector<std::string> settings = {"--validation", "0.25", "--patience", "3", "--rate", "0.1"};
  const Job job(settings);
  const Job whole(settings);
  REQUIRE(whole.run() == 0);
  // The last checkpoint is put back, as if what followed it had not happened. On a machine that has much else
  // to do a training may be over before anybody has looked: then there is another one.
  std::string last;
  for (int attempt = 0; attempt < 20 && last.empty(); ++attempt) {
    fs::remove(job.model());
    const pid_t child = job.start();
    int status = 0;
    while (::waitpid(child, &status, WNOHANG) == 0) {
      std::string now = contents(job.checkpoint());
      if (!now.empty()) last = std::move(now);
    }
    REQUIRE(status == 0);
  }
  REQUIRE_FALSE(last.empty());
  for (const bool model_written : {true, false}) {
    CAPTURE(model_written);
    if (!model_written) fs::remove(job.model());
    put(job.checkpoint(), last);
    REQUIRE(job.run() == 0);
    CHECK(contents(job.model()) == contents(whole.model()));
    CHECK(job.finished());
  }
}

TEST_CASE("other settings than the checkpoint's are refused, and it stays", "[cli][train][resume][lstm]") {
  const Job job({});
  REQUIRE(job.run_and_kill(Milliseconds(20000), [&] { return fs::exists(job.checkpoint()); }));
  const std::string before = contents(job.checkpoint());
  for (const std::string other : {"--rate 0.1", "--max-length 51", "--seed 7", "--optimizer adamw",
                                  "--cell lstm", "--hidden 16", "--max-pairs 11", "--validation 0.5"}) {
    CAPTURE(other);
    std::string line = "\"$TOOL\"";
    const std::vector<std::string> arguments = job.arguments();
    for (std::size_t i = 1; i < arguments.size(); ++i) line += " " + shell_word(arguments[i]);
    if (other == "--hidden 16") line.replace(line.find("'--hidden' '8'"), 14, "--hidden 16");
    const Run run = run_shell(other == "--hidden 16" ? line : line + " " + other);
    CHECK(run.code == 1);
    CHECK_THAT(run.err, StartsWith("bahdanau: " + job.checkpoint().string() + ": expected "));
  }
  CHECK(contents(job.checkpoint()) == before);
}

TEST_CASE("a log goes on behind what it has", "[cli][train][resume][log]") {
  const TemporaryDirectory logs;
  const fs::path log = logs / "log.jsonl";
  const Job job({"--log", log.string()});
  const auto checkpointed = [&] { return fs::exists(job.checkpoint()); };
  bool killed = false;  // not if it was over before anybody looked
  for (int attempt = 0; attempt < 20 && !killed; ++attempt) {
    for (const fs::path& file : {log, job.model(), job.checkpoint()}) fs::remove(file);
    killed = job.run_and_kill(Milliseconds(20000), checkpointed);
  }
  REQUIRE(killed);
  const std::string before = contents(log);
  REQUIRE(job.run() == 0);
  const std::string after = contents(log);
  CHECK_THAT(after, StartsWith(before));
  // Every line is whole, and no epoch is missing; those since the checkpoint are there twice.
  std::vector<int> epochs;
  for (const auto& line : json_lines(after))
    if (line["event"] == "epoch") epochs.push_back(line["epoch"]);
  std::vector<int> once = epochs;
  std::sort(once.begin(), once.end());
  once.erase(std::unique(once.begin(), once.end()), once.end());
  CHECK(once.size() == 150);
  CHECK(epochs.front() == 1);
  CHECK(epochs.back() == 150);
  // Without --resume it begins anew.
  CHECK(train_in(job.files, "--quiet --epochs 1 --log " + shell_word(log)).code == 0);
  CHECK(json_lines(contents(log)).size() == 4);
}

TEST_CASE("a line of the log is there when its batch is done", "[cli][train][log]") {
  const TemporaryDirectory files;
  std::string many;
  for (int i = 0; i < 4000; ++i) many += tiny_pairs;
  put(files / "pairs.tsv", many);
  const std::string log = shell_word(files / "log.jsonl");
  // Killed as soon as there is something, which is long before the epoch's end.
  run_shell("\"$TOOL\" train --quiet --embed 8 --hidden 32 --batch 1000 --epochs 1 --data " +
            shell_word(files / "pairs.tsv") + " --model " + shell_word(files / "m") + " --log " + log +
            " & child=$!\nuntil test -s " + log +
            " || ! kill -0 $child; do sleep 0.01; done\nkill -KILL $child; wait $child");
  const auto lines = json_lines(contents(files / "log.jsonl"));
  REQUIRE_FALSE(lines.empty());
  CHECK(lines[0]["batches"] == 48);
  CHECK(lines.size() < 48);
}

TEST_CASE("first weights from other files than the checkpoint's are refused", "[cli][train][resume][from]") {
  const TemporaryDirectory files;
  const auto train = [&](const std::string& settings) {
    return "\"$TOOL\" train --data " + shell_word(files / "pairs.tsv") + " --model " +
           shell_word(files / "m") + " --quiet --resume --epochs 1000000" + settings;
  };
  put(files / "pairs.tsv", tiny_pairs);
  for (const std::string name : {"first", "second"})
    REQUIRE(run_tool("train --epochs 0 --embed 3 --hidden 4 --seed " + std::to_string(name.size()) +
                     " --data " + shell_word(files / "pairs.tsv") + " --model " + shell_word(files / name))
                .code == 0);
  put(files / "words", "go 1 2 3\n");
  put(files / "others", "go 1 2 4\n");
  put(files / "target", "va 1 2 3\n");
  const auto from = [&](const std::string& name) { return " --from " + shell_word(files / name); };
  const auto embeddings = [&](const std::string& side, const std::string& name) {
    return " --" + side + "-embeddings " + shell_word(files / name);
  };
  // Interrupted as soon as there is a checkpoint.
  REQUIRE(run_shell(train(from("first") + embeddings("source", "words")) + " & child=$!\nuntil test -e " +
                    shell_word(files / "m.checkpoint") +
                    " || ! kill -0 $child; do sleep 0.05; done\nkill -TERM $child; wait $child")
              .code == 143);
  const std::string before = contents(files / "m.checkpoint");
  const auto said = [&](const std::string& settings) {
    const Run run = run_shell(train(settings));
    CHECK(run.code == 1);
    return run.err;
  };
  const std::string start = (files / "m.checkpoint").string() + ": expected origin.";
  CHECK_THAT(said(from("second") + embeddings("source", "words")),
             ContainsSubstring(start + "from fingerprint "));
  CHECK_THAT(said(from("first") + embeddings("source", "others")),
             ContainsSubstring(start + "source_embeddings fingerprint "));
  CHECK_THAT(said(from("first")), ContainsSubstring(start + "source_embeddings fingerprint ") &&
                                      ContainsSubstring(", got none; resume with"));
  CHECK_THAT(said(from("first") + embeddings("source", "words") + embeddings("target", "target")),
             ContainsSubstring(start + "target_embeddings none, as"));
  CHECK(contents(files / "m.checkpoint") == before);
}

TEST_CASE("fewer epochs than the checkpoint has done are refused, and it stays", "[cli][train][resume]") {
  const Job job({});
  REQUIRE(job.run_and_kill(Milliseconds(20000), [&] { return fs::exists(job.checkpoint()); }));
  const std::string before = contents(job.checkpoint());
  std::string line = "\"$TOOL\"";
  const std::vector<std::string> arguments = job.arguments();
  for (std::size_t i = 1; i < arguments.size(); ++i) line += " " + shell_word(arguments[i]);
  const Run run = run_shell(line + " --epochs 0");
  CHECK(run.code == 1);
  CHECK_THAT(run.err,
             StartsWith("bahdanau: " + job.checkpoint().string() + ": expected epochs of at least ") &&
                 ContainsSubstring(", got 0\n"));
  CHECK(contents(job.checkpoint()) == before);
  CHECK_FALSE(fs::exists(job.model()));
}

TEST_CASE("a finished model is not trained again by --resume", "[cli][train][resume]") {
  const TemporaryDirectory files;
  REQUIRE(train_in(files, "--quiet --epochs 2").code == 0);
  const std::string before = contents(files / "m");
  const Run run = train_in(files, "--quiet --epochs 3 --resume");
  CHECK(run.code == 1);
  CHECK(run.err ==
        "bahdanau: " + (files / "m.checkpoint").string() +
            ": expected a checkpoint to go on from, got none beside a finished model; train without "
            "--resume to replace " +
            (files / "m").string() + ", or give another --model\n");
  CHECK(contents(files / "m") == before);
  CHECK(train_in(files, "--quiet --epochs 3").code == 0);
}

TEST_CASE("a kill leaves no files behind that a next training does not remove", "[cli][train][resume]") {
  const Job job({});
  for (const int delay : {30, 50, 40, 70})
    if (!job.finished()) job.run_and_kill(Milliseconds(delay), [] { return false; });
  if (!job.finished()) REQUIRE(job.run() == 0);
  fs::remove(job.files / "said");
  CHECK(std::distance(fs::directory_iterator(job.files.path()), {}) == 2);  // the pairs and the model
}

namespace {

/// Sends signals to a training once it has a checkpoint, the second at once after the first; returns its
/// status.
int interrupted(const Job& job, const std::vector<int>& signals, bool quiet) {
  const pid_t child = job.start(quiet);
  job.wait_for([&] { return fs::exists(job.checkpoint()); });
  for (const int signal : signals) ::kill(child, signal);
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

// Long enough that a signal comes before its end.
const std::vector<std::string> long_training = {"--epochs", "2000", "--validation", "0.25"};

}  // namespace

TEST_CASE("the first Ctrl-C or SIGTERM ends well, and the command that it says goes on to the same bytes",
          "[cli][train][resume][signal]") {
  const Job whole(long_training);
  REQUIRE(whole.run() == 0);
  for (const auto& [signal, quiet] : {std::pair(SIGINT, false), std::pair(SIGTERM, true)}) {
    CAPTURE(signal, quiet);
    const Job job(long_training);
    const int status = interrupted(job, {signal}, quiet);
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 128 + signal);
    CHECK_FALSE(fs::exists(job.model()));
    REQUIRE(fs::exists(job.checkpoint()));
    const std::string said = contents(job.files / "said");
    CHECK((said.find("finishing this batch") != said.npos) == !quiet);
    CHECK_THAT(said, ContainsSubstring("bahdanau: interrupted in epoch ") &&
                         ContainsSubstring(" of 2000; " + job.checkpoint().string() +
                                           " has all that was done; to go on:\n"));
    // Its last line is the command; the tool is wherever it is.
    std::string command = said.substr(said.rfind("to go on:\n") + 10);
    REQUIRE_THAT(command, StartsWith("bahdanau train --data "));
    CHECK_THAT(command, ContainsSubstring("--resume"));
    command.replace(0, 8, "\"$TOOL\"");
    CHECK(run_shell(command).code == 0);
    CHECK(contents(job.model()) == contents(whole.model()));
    CHECK_FALSE(fs::exists(job.checkpoint()));
  }
}

TEST_CASE("the command to go on is one that a shell reads, and has --resume once", "[cli][train][signal]") {
  const TemporaryDirectory files;
  fs::create_directory(files / "it's a folder");
  const fs::path folder = files / "it's a folder";
  put(folder / "pairs.tsv", tiny_pairs);
  // The shell that starts it sends the signal when there is a checkpoint.
  const Run run = run_shell("cd '" + (files.path() / "it'\\''s a folder").string() +
                            "'\n\"$TOOL\" train --data pairs.tsv --model 'a model' " + small +
                            "--epochs 100000 --quiet & child=$!\n"
                            "while [ ! -e 'a model.checkpoint' ] && kill -0 $child; do sleep 0.01; done\n"
                            "kill -TERM $child; wait $child");
  CHECK(run.code == 143);
  CHECK_THAT(run.err, ContainsSubstring(" train --data pairs.tsv --model 'a model' --embed 8 ") &&
                          ContainsSubstring("--epochs 100000 --quiet --resume\n"));
}

TEST_CASE("a second signal ends training at once", "[cli][train][resume][signal]") {
  // Batches and checkpoints that take their time: the second signal finds the first one's still under way.
  const auto ended_by = [&](int first, int second, auto between) {
    const Job job(
        {"--epochs", "1000", "--hidden", "384", "--embed", "384", "--batch", "12", "--threads", "1"});
    const pid_t child = job.start(false);
    job.wait_for([&] { return fs::exists(job.checkpoint()); });
    between(job, child, first, second);
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK_FALSE(fs::exists(job.model()));
    const std::string said = contents(job.files / "said");
    CHECK_THAT(said, ContainsSubstring("once more ends at once\n"));
    CHECK(said.find("to go on:") == said.npos);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  };
  // Once the first was taken note of.
  CHECK(ended_by(SIGINT, SIGINT, [](const Job& job, pid_t child, int first, int second) {
          ::kill(child, first);
          job.wait_for([&] { return contents(job.files / "said").find("once more") != std::string::npos; });
          ::kill(child, second);
        }) == SIGINT);
  // Both at the same moment: they come one after the other, in whatever order, when it runs again.
  CHECK(ended_by(SIGINT, SIGTERM, [](const Job&, pid_t child, int first, int second) {
          for (const int signal : {SIGSTOP, first, second, SIGCONT}) ::kill(child, signal);
        }) != 0);
}

TEST_CASE("a signal that was ignored stays so", "[cli][train][signal]") {
  const TemporaryDirectory files;
  put(files / "pairs.tsv", tiny_pairs);
  const Run run = run_shell("trap '' INT\n\"$TOOL\" train --data " + shell_word(files / "pairs.tsv") +
                            " --model " + shell_word(files / "m") + small +
                            "--epochs 300 --quiet & child=$!\n"
                            "while [ ! -e " +
                            shell_word(files / "m.checkpoint") +
                            " ] && kill -0 $child; do sleep 0.01; done\n"
                            "kill -INT $child; wait $child");
  CHECK(run.code == 0);
  CHECK(fs::exists(files / "m"));
}
