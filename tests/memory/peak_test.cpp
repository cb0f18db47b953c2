// The most memory that a training takes at once: in a process of its own, as an allocator keeps what tests
// before it have freed.
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <sys/wait.h>

#include <bahdanau/bahdanau.hpp>

#include "support/catch.hpp"
#include "support/sequences.hpp"

namespace bd = bahdanau;

namespace {

#if defined(__linux__) && defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
constexpr bool measures_peak = true;
#else
constexpr bool measures_peak = false;
#endif

/// A line of the process's status, in MB.
double megabytes(const std::string& key) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(key + ":")) return std::stod(line.substr(key.size() + 1)) * 1024 / 1e6;
  return 0;
}

}  // namespace

TEST_CASE("in a new process: a training's peak is what weights, moments and one batch need",
          "[.][peak_alone]") {
  using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Xtensor<float>>;
  constexpr std::size_t words = 5000, longest = 20;
  const double before = megabytes("VmRSS");
  Model model({.embed = 256, .hidden = 256, .layers = 2, .dropout = 0.1F},
              bd::test::numbered(words, words, longest), 1);
  const double numbers = 4e-6 * static_cast<double>(model.weights().size());
  bd::Training training(model, bd::Adam{}, {.clip = 1, .threads = 2});
  for (std::uint64_t step = 0; step < 4; ++step) {
    training.loss({bd::test::random_sequences(64, longest, words, step),
                   bd::test::random_sequences(64, longest, words, 100 + step)});
    training.backward();
    training.step();
  }
  const double peak = megabytes("VmHWM") - before;
  CAPTURE(before, numbers, peak);
  CHECK(peak > 4 * numbers);  // weights, their gradient and two moments: it was measured
  CHECK(peak <= 1.05 * 141);  // what it was, on x86-64 at each level of instructions
}

TEST_CASE("a training's memory stays within five percent of what was measured", "[memory][train][process]") {
  if (!measures_peak) return;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const int status = std::system(("'" + self + "' '[peak_alone]'").c_str());
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}
