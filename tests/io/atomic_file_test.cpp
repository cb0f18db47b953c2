// A file is there as a whole or as it was before, whatever goes wrong on the way.
// The failures are real ones: an exception, a limit on the size of files, a missing folder.
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <stdexcept>
#include <string>

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bahdanau/io/atomic_file.hpp>

#include "support/catch.hpp"
#include "support/file_bytes.hpp"
#include "support/temporary_directory.hpp"

using bahdanau::Error;
using bahdanau::write_atomically;
using bahdanau::test::contents;
using bahdanau::test::put;
using bahdanau::test::TemporaryDirectory;
using Catch::Matchers::Message;

namespace {

std::size_t files_in(const std::filesystem::path& folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

}  // namespace

TEST_CASE("writing replaces a file as a whole, and leaves nothing beside it", "[atomic]") {
  TemporaryDirectory folder;
  write_atomically(folder / "x", "old");
  write_atomically(folder / "x", "new");
  CHECK(contents(folder / "x") == "new");
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("a name without a folder is written where the program runs", "[atomic]") {
  TemporaryDirectory folder;
  std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  CHECK_NOTHROW(write_atomically("x", "here"));
  std::filesystem::current_path(before);
  CHECK(contents(folder / "x") == "here");
}

TEST_CASE("an existing file survives a write that fails", "[atomic]") {
  TemporaryDirectory folder;
  write_atomically(folder / "x", "old");
  SECTION("because what is written throws") {
    CHECK_THROWS_AS(write_atomically(folder / "x",
                                     [](bahdanau::AtomicFile& file) {
                                       file.write("half");
                                       throw std::runtime_error("stop");
                                     }),
                    std::runtime_error);
  }
  SECTION("because there is no more room") {
    rlimit limit{};
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &limit) == 0);
    rlimit small = limit;
    small.rlim_cur = 1000;
    auto before = ::signal(SIGXFSZ, SIG_IGN);
    std::string message;
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
    try {
      write_atomically(folder / "x", std::string(1500, 'x'));
    } catch (const Error& error) {
      message = error.what();
    }
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
    ::signal(SIGXFSZ, before);
    CHECK(message == (folder / "x").string() + R"(: expected to write 500 bytes, got "File too large")");
  }
  SECTION("because it was given up") { bahdanau::AtomicFile(folder / "x").write("half"); }
  CHECK(contents(folder / "x") == "old");
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("a place that cannot be written to is refused with the reason", "[atomic][error]") {
  TemporaryDirectory folder;
  auto refuses = [](const std::filesystem::path& path, const std::string& message) {
    REQUIRE_THROWS_MATCHES(write_atomically(path, "new"), Error,
                           Message(path.string() + ": expected " + message));
  };
  SECTION("a folder that is missing") {
    refuses(folder / "no/x", R"(a folder that can be written to, got "No such file or directory")");
  }
  SECTION("a folder that is a file") {
    put(folder / "file", "");
    refuses(folder / "file/x", R"(a folder that can be written to, got "Not a directory")");
  }
  SECTION("a directory") { refuses(folder.path(), "the name of a file to write, got a directory"); }
  SECTION("a device, which a rename would replace") {
    refuses("/dev/null", "the name of a file to write, got a device");
  }
}

TEST_CASE("a file that is replaced keeps its permissions and its links", "[atomic]") {
  TemporaryDirectory folder;
  write_atomically(folder / "x", "old");
  std::filesystem::create_directory(folder / "there");
  std::filesystem::permissions(folder / "x", std::filesystem::perms{0640});
  std::filesystem::create_symlink("../x", folder / "there/link");
  write_atomically(folder / "there/link", "new");
  CHECK(contents(folder / "x") == "new");
  CHECK(std::filesystem::is_symlink(folder / "there/link"));
  CHECK(std::filesystem::status(folder / "x").permissions() == std::filesystem::perms{0640});
}

TEST_CASE("the names of files beside do not depend on the length of the name", "[atomic]") {
  TemporaryDirectory folder;
  std::string longest(255, 'x');
  CHECK_NOTHROW(write_atomically(folder / longest, "fits"));
  CHECK(contents(folder / longest) == "fits");
}

TEST_CASE("what a killed process left behind goes with the next write to the same place", "[atomic]") {
  TemporaryDirectory folder;
  const pid_t child = ::fork();
  if (child == 0) {
    bahdanau::AtomicFile file(folder / "x"), other(folder / "y");
    file.write("half");
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  REQUIRE(WIFSIGNALED(status));
  REQUIRE(files_in(folder.path()) == 2);
  write_atomically(folder / "x", "whole");
  CHECK(contents(folder / "x") == "whole");
  CHECK(files_in(folder.path()) == 2);  // the other place's is not ours to judge
  write_atomically(folder / "y", "whole");
  CHECK(files_in(folder.path()) == 2);
}

TEST_CASE("two who write to one place leave each other alone", "[atomic]") {
  TemporaryDirectory folder;
  bahdanau::AtomicFile slow(folder / "x");
  slow.write("slow");
  write_atomically(folder / "x", "fast");
  CHECK(contents(folder / "x") == "fast");
  slow.commit();
  CHECK(contents(folder / "x") == "slow");
  CHECK(files_in(folder.path()) == 1);
}
