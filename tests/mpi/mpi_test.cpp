// Trainings over MPI, as mpirun starts them: bits, checkpoints, and everything that may go wrong.
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <sys/wait.h>

#include <bahdanau/backend/blas.hpp>

#include "support/catch.hpp"
#include "support/file_bytes.hpp"
#include "support/temporary_directory.hpp"

using namespace bahdanau::test;
using Catch::Matchers::ContainsSubstring;

namespace {

struct Run {
  int code;
  double seconds;
  std::string out, err;
};

/// So many processes of a program.
Run launched(int count, const std::string& command) {
  const TemporaryDirectory files;
  const auto start = std::chrono::steady_clock::now();
  const std::string line = std::string("timeout --kill-after=9 300 bash ") + BAHDANAU_MPI_LAUNCH + " " +
                           BAHDANAU_MPIEXEC + " " + std::to_string(count) + " " + command + " >" +
                           (files / "out").string() + " 2>" + (files / "err").string() + " </dev/null";
  const int status = std::system(line.c_str());
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), seconds, contents(files / "out"),
          contents(files / "err")};
}
Run worker(int count, const std::string& arguments) {
  return launched(count, std::string(BAHDANAU_MPI_WORKER) + " " + arguments);
}

/// Whether this is Open MPI, whose words about processes that die are known; others say something.
bool open_mpi() {
  static const bool found =
      std::system("" BAHDANAU_MPIEXEC " --version 2>&1 | grep -qE 'Open MPI|OpenRTE'") == 0;
  return found;
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

/// The model file of a training that nothing happened to.
const std::string& expected() {
  static const std::string bytes = [] {
    const TemporaryDirectory folder;
    const Run run = worker(1, "out=" + (folder / "m").string());
    INFO(run.err);
    CHECK(run.code == 0);
    return contents(folder / "m");
  }();
  REQUIRE(!bytes.empty());
  return bytes;
}

}  // namespace

TEST_CASE("one, two and four processes train to the same bits", "[mpi][bits]") {
  for (const int count : {2, 4})
    for (const char* threads : {"1", "2"}) {
      const TemporaryDirectory folder;
      const Run run = worker(count, "out=" + (folder / "m").string() + " threads=" + threads);
      INFO(run.err);
      CHECK(run.code == 0);
      CHECK(run.out == "done after epoch 3\n");
      CHECK((contents(folder / "m") == expected()));
    }
}

TEST_CASE("a process that is killed ends all within seconds, and training goes on with other numbers of them",
          "[mpi][kill][bits]") {
  const TemporaryDirectory folder;
  const std::string files =
      "checkpoint=" + (folder / "c").string() + " out=" + (folder / "m").string() + " fault=kill ";
  // Where each life ends differs: the batches are counted from the one that it goes on from.
  for (const auto& [count, what] : {std::pair(4, "rank=2 batch=5"), std::pair(2, "rank=0 batch=4"),
                                    std::pair(4, "rank=3 batch=6"), std::pair(2, "rank=1 batch=3")}) {
    const Run run = worker(count, files + what);
    INFO(run.err);
    CHECK(run.code != 0);
    CHECK(run.seconds < 20);
    CHECK(std::filesystem::exists(folder / "c"));
    CHECK(!std::filesystem::exists(folder / "m"));
    CHECK_FALSE(run.err.empty());
    const std::string words(what);
    const std::string rank = words.substr(words.find('=') + 1, 1);
    if (open_mpi()) {
      CHECK(count_of(run.err, "process rank " + rank + " ") == 1);
      CHECK_THAT(run.err, ContainsSubstring("exited on signal 9"));
    }
  }
  CHECK(worker(1, files).code == 0);
  CHECK((contents(folder / "m") == expected()));
}

TEST_CASE("a process that throws ends all within seconds, and one line says which and why", "[mpi][error]") {
  for (const int rank : {0, 2}) {
    const Run run = worker(4, "fault=throw rank=" + std::to_string(rank));
    INFO(run.err);
    CHECK(run.code != 0);
    CHECK(run.seconds < 20);
    CHECK(count_of(run.err, "one that broke") == 1);
    CHECK_THAT(run.err,
               ContainsSubstring("bahdanau: rank " + std::to_string(rank) +
                                 " of 4: pairs.tsv: expected a disk, got one that broke; all processes "
                                 "end\n"));
  }
}

TEST_CASE("a process that gives up before the others wait for it ends all, and one line says which and why",
          "[mpi][error]") {
  for (const int rank : {0, 3}) {
    const Run run = worker(4, "timeout=0 fault=data rank=" + std::to_string(rank));
    INFO(run.err);
    CHECK(run.code != 0);
    CHECK(run.seconds < 20);
    CHECK_THAT(run.err,
               ContainsSubstring("bahdanau: rank " + std::to_string(rank) +
                                 " of 4: pairs.tsv: expected a file, got none; all processes end\n"));
    CHECK(count_of(run.err, "expected") == 1);
  }
}

TEST_CASE("a process whose main catches an error and ends makes the others fail", "[mpi][error]") {
  for (const int rank : {0, 3}) {
    const Run run = worker(4, "timeout=0 guard=none fault=data rank=" + std::to_string(rank));
    INFO(run.err);
    CHECK(run.code != 0);
    CHECK(run.seconds < 20);
    CHECK_THAT(run.err, ContainsSubstring("rank " + std::to_string(rank) +
                                          ": expected a message, got none: it has ended; all processes end"));
  }
}

TEST_CASE("a process that is stopped ends all once the others have waited as long as they may",
          "[mpi][error]") {
  for (const int rank : {0, 2}) {
    const Run run = worker(4, "timeout=8 notice=3 fault=freeze rank=" + std::to_string(rank));
    INFO(run.err);
    CHECK(run.code != 0);
    CHECK(run.seconds < 40);
    CHECK_THAT(run.err, Catch::Matchers::Matches(
                            "[^]*bahdanau: rank [0-3] of 4: rank [0-3]: expected a message within 8 s, got "
                            "none; it is stopped or slow, or waits for another; all processes end\n[^]*"));
    // All but the one that is stopped say for whom they wait; it is among those.
    const std::string stopped = std::to_string(rank);
    CHECK(count_of(run.err, " has waited 3 s for rank ") == 3);
    CHECK(count_of(run.err, " has waited 6 s for rank ") >= 1);
    CHECK(count_of(run.err, "rank " + stopped + " has waited") == 0);
    CHECK(count_of(run.err, "has waited 3 s for rank " + stopped + "\n") >= 1);
  }
}

TEST_CASE("who waits long says so, and training goes on", "[mpi][bits]") {
  const TemporaryDirectory folder;
  const Run run = worker(2, "notice=1 fault=sleep rank=1 out=" + (folder / "m").string());
  CHECK(run.code == 0);
  CHECK(run.err.find("bahdanau: rank 0 has waited 1 s for rank 1\n") != run.err.npos);
  CHECK(count_of(run.err, "rank 0 has waited") <= 2);
  CHECK((contents(folder / "m") == expected()));
  CHECK(count_of(worker(2, "notice=0 fault=sleep rank=1").err, "has waited") == 0);
}

TEST_CASE("an error after the training, in the process that writes files, is said once and ends all",
          "[mpi][error]") {
  const TemporaryDirectory folder;
  const Run run = worker(4, "out=" + (folder / "none" / "m").string());
  INFO(run.err);
  CHECK(run.code != 0);
  CHECK(run.seconds < 20);
  CHECK_THAT(run.err, ContainsSubstring("bahdanau: rank 0 of 4: " + (folder / "none" / "m").string()));
  CHECK(count_of(run.err, "expected") == 1);
}

TEST_CASE("a process that leaves without a word ends all", "[mpi][error]") {
  const Run run = worker(4, "fault=exit rank=1");
  INFO(run.err);
  CHECK(run.code != 0);
  CHECK(run.seconds < 20);
  CHECK_FALSE(run.err.empty());
  if (open_mpi()) {
    // [[job, number of the program in it], rank], of version 5 [launcher-host-process@1,rank]
    CHECK_THAT(run.err, Catch::Matchers::Matches("[^]*[,@]1\\]?,1\\]\n[^]*"));
    CHECK_THAT(run.err, Catch::Matchers::Matches("[^]*Exit code: +3\n[^]*"));
  }
}

TEST_CASE("what differs between processes is one error at the start", "[mpi][error]") {
  const auto check = [](const std::string& fault, const std::string& message) {
    const Run run = worker(4, "fault=" + fault + " rank=3");
    INFO(run.err);
    CHECK(run.code != 0);
    CHECK(count_of(run.err, "worker: rank 3: " + message) == 1);
    CHECK(count_of(run.err, "expected") == 1);
  };
  check("clip", "Training: expected clip 0.5, as rank 0 has, got 0.25");
  const Run one = worker(1, "fault=instructions rank=0 epochs=1");
  if (one.code == 0)
    check("instructions", "Training: expected instructions ");
  else
    WARN("not tried with other instructions, as there are no baseline ones here: " << one.err);
}

TEST_CASE("kernels of BLAS that one process alone has are one error at the start", "[mpi][error]") {
#if defined(__x86_64__)
  if (!bahdanau::blas::chooses_core()) {
    WARN("not tried: this OpenBLAS has the kernels of one processor");
    return;
  }
  // Those that every processor of this kind has.
  const Run run =
      launched(4,
               "bash -c 'core=Nehalem; if (( ${OMPI_COMM_WORLD_RANK-$PMI_RANK} == 3 )); then "
               "core=Prescott; fi; OPENBLAS_CORETYPE=$core exec \"$@\"' bash " BAHDANAU_MPI_WORKER);
  INFO(run.err);
  CHECK(run.code != 0);
  CHECK(count_of(run.err,
                 "worker: rank 3: Training: expected BLAS kernels Nehalem, as rank 0 has, got "
                 "Prescott; all processes need the same program, settings and data") == 1);
  CHECK(count_of(run.err, "expected") == 1);
#else
  WARN("not tried: this is no x86-64");
#endif
}

TEST_CASE("a number of processes that does not fit is an error that says what would", "[mpi][error]") {
  const Run three = worker(3, "");
  CHECK(three.code != 0);
  CHECK_THAT(three.err, ContainsSubstring("expected a power of two of processes, got 3"));
  const Run four = worker(4, "replicas=2");
  CHECK(four.code != 0);
  CHECK_THAT(four.err, ContainsSubstring("expected at least one for each of the 4 processes, got 2"));
}

TEST_CASE("a signal to one process ends all after the same batch, with a checkpoint", "[mpi][bits]") {
  const TemporaryDirectory folder;
  const std::string files = "checkpoint=" + (folder / "c").string() + " out=" + (folder / "m").string();
  const Run run = worker(4, files + " fault=term rank=2 batch=11");
  INFO(run.err);
  CHECK(run.code == 0);
  CHECK(run.out == "interrupted after epoch 1\n");
  CHECK(worker(2, files).code == 0);
  CHECK((contents(folder / "m") == expected()));
}

#ifdef BAHDANAU_MPI_WORKER_THRUST
TEST_CASE("numbers of a device travel by way of the host, or directly where the communicator can",
          "[mpi][thrust]") {
  const auto train = [](int count, const std::string& arguments) {
    const Run run = launched(count, std::string("env OMP_WAIT_POLICY=passive OMP_NUM_THREADS=1 ") +
                                        BAHDANAU_MPI_WORKER_THRUST + " loss=yes " + arguments);
    INFO(run.err);
    CHECK(run.code == 0);
    return run.out;
  };
  const double alone = std::stod(train(1, ""));
  CHECK(std::stod(train(2, "")) == Approx(alone).epsilon(1e-3));
  const std::string direct = train(4, "direct=yes");
  REQUIRE(direct.starts_with("direct, "));
  CHECK(std::stod(direct.substr(8)) == Approx(alone).epsilon(1e-3));
}
#endif

#ifdef BAHDANAU_CLI
TEST_CASE("the tool trains in several processes to the same file, and says everything once", "[mpi][cli]") {
  const TemporaryDirectory folder;
  const auto command = [&](const std::string& name, const std::string& more) {
    return "'" BAHDANAU_CLI "' train --data " BAHDANAU_EXAMPLE_DATA
           " --max-pairs 200 --epochs 2 --embed 16 --hidden 16 --layers 1 --replicas 4 --model " +
           (folder / name).string() + " " +
           (more.find("--validation") == more.npos ? "--validation 0.1 " : "") + more;
  };
  REQUIRE(std::system((command("one", "2>/dev/null")).c_str()) == 0);
  const std::string one = contents(folder / "one");
  for (const int count : {2, 4}) {
    const Run run = launched(count, command("several", "--keep 1"));
    INFO(run.err);
    CHECK(run.code == 0);
    CHECK((contents(folder / "several") == one));
    CHECK(count_of(run.err, "vocabularies:") == 1);
    CHECK(count_of(run.err, "epoch 2/2") == 1);
    CHECK(count_of(run.err, "wrote ") == 1);
    CHECK(std::filesystem::exists(folder / "several.epoch-2"));
    CHECK(!std::filesystem::exists(folder / "several.checkpoint"));
  }
  // Each process reads what it needs from the file.
  const std::string dev = (folder / "dev").string();
  REQUIRE(std::system(("tail -n 30 " BAHDANAU_EXAMPLE_DATA " >" + dev).c_str()) == 0);
  const auto stream = [&](const std::string& name, const std::string& more) {
    return command(name, "--validation " + dev + " " + more);
  };
  REQUIRE(std::system(stream("memory", "2>/dev/null").c_str()) == 0);
  CHECK(launched(2, stream("stream", "--stream")).code == 0);
  CHECK((contents(folder / "stream") == contents(folder / "memory")));
  // One process stops in the middle.
  const std::string log = (folder / "log").string();  // which rank 0 writes once it trains
  std::string endless = command("none", "--timeout 6 --log " + log);
  endless.replace(endless.find("--epochs 2"), 10, "--epochs 1000000");
  const Run stopped =
      launched(2,
               "bash -c 'if (( ${OMPI_COMM_WORLD_RANK-$PMI_RANK} == 1 )); then "
               "(until [ -s " +
                   log + " ]; do sleep 0.1; done; kill -STOP $$) & fi; exec \"$@\"' bash " + endless);
  INFO(stopped.err);
  CHECK(stopped.code != 0);
  CHECK(stopped.seconds < 60);
  CHECK_THAT(stopped.err,
             ContainsSubstring("bahdanau: rank 0 of 2: rank 1: expected a message within 6 s, got none"));
  const Run missing = launched(2, command("none", "--fix nothing_of_it"));
  CHECK(missing.code == 1);
  CHECK(count_of(missing.err, "bahdanau: fixed: expected the name of a parameter") == 1);
  const Run three = launched(3, command("none", ""));
  CHECK(three.code != 0);
  CHECK_THAT(three.err, ContainsSubstring("expected a power of two of processes, got 3"));
  CHECK(count_of(three.err, "expected") == 1);
  const Run usage = launched(2, command("none", "--no-such-option"));
  CHECK(usage.code == 2);
  CHECK(count_of(usage.err, "--no-such-option") == 1);
}
#endif
