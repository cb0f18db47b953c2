// Which instructions are in use, and who may ask for others.
#include <cstdlib>
#include <filesystem>
#include <string>

#include <sys/wait.h>

#include <bahdanau/kernel/lanes.hpp>

#include "kernel/rows.hpp"
#include "support/catch.hpp"
#include "support/levels.hpp"
#include "support/message.hpp"

using namespace bahdanau;
using namespace bahdanau::test;
using namespace Catch::Matchers;

namespace {

/// Runs a hidden test of this program with a value of the variable; its exit code.
int with_variable(const std::string& value) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const int status = std::system(
      ("BAHDANAU_INSTRUCTIONS='" + value + "' '" + self + "' '[instructions_alone]' > /dev/null").c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("in a new process: the variable says which instructions are used", "[.][instructions_alone]") {
  const char* variable = std::getenv("BAHDANAU_INSTRUCTIONS");
  const std::string asked = variable != nullptr ? variable : "avx2";
  bool there = false;
  for (const Instructions level : levels()) there = there || name(level) == asked;
  if (!there) {
    const std::string message = message_of([] { for_rows<float>(1, [](auto, std::size_t) {}); });
    CHECK_THAT(message, ContainsSubstring("BAHDANAU_INSTRUCTIONS: expected"));
    CHECK_THAT(message, ContainsSubstring(std::string(name(supported_instructions()))));
    CHECK_THAT(message, ContainsSubstring("which this processor has, got " + asked));
    return;
  }
  CHECK(name(instructions()) == asked);
}

TEST_CASE("BAHDANAU_INSTRUCTIONS takes a level, and an unknown one is an error that names those there are",
          "[kernel][instructions][process]") {
  for (const Instructions level : levels()) CHECK(with_variable(std::string(name(level))) == 0);
  CHECK(with_variable("sse9") == 0);
  for (const Instructions level : {Instructions::baseline, Instructions::avx2, Instructions::avx512})
    if (level < kernel::detail::own_instructions || level > supported_instructions())
      CHECK(with_variable(std::string(name(level))) == 0);  // is refused, in the same words
}

TEST_CASE("a level that the processor or this build lacks is refused, and the one in use stays",
          "[kernel][instructions]") {
  const Instructions before = instructions();
  for (const Instructions level : {Instructions::baseline, Instructions::avx2, Instructions::avx512}) {
    const bool there = level >= kernel::detail::own_instructions && level <= supported_instructions();
    const std::string message = message_of([&] { use_instructions(level); });
    CHECK((message == "nothing was thrown") == there);
    if (!there) CHECK_THAT(message, ContainsSubstring("use_instructions: expected"));
  }
  use_instructions(before);
  CHECK(instructions() == before);
}

TEST_CASE("kernels get the instructions of the level in use", "[kernel][instructions]") {
  for (const Instructions level : levels()) {
    const AtLevel at(level);
    std::size_t bytes = 0;
    for_rows<float>(1, [&](auto lanes, std::size_t) {
      const float x[64] = {};
      float y[64];
      lanes.map(
          64,
          [&](auto v) {
            bytes = sizeof(v);
            return v;
          },
          Store<float>{y}, static_cast<const float*>(x));
    });
    CHECK(bytes == (level == Instructions::avx512 ? 64U : level == Instructions::avx2 ? 32U : 16U));
  }
}
