// Resident memory over epochs: nothing may be added after the first.
#include <cstdio>
#include <fstream>
#include <string>

#include "trainings.hpp"

namespace benchmark {
namespace {

double resident_megabytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:")) return std::stod(line.substr(6)) * 1024 / 1e6;
  return 0;
}

}  // namespace

bool check_memory(const char* pairs) {
  const auto corpus = bd::Corpus::read(pairs, {.min_frequency = 20, .max_length = 25}).split(4'000).second;
  std::vector<double> all;
  epochs_over(corpus, 6, [&] { all.push_back(resident_megabytes()); });
  std::printf("resident MB after each epoch:");
  for (const double megabytes : all) std::printf(" %.1f", megabytes);
  std::puts("");
  return verdict("last over first", all.back() / all.front(), "at most", 1.01);
}

}  // namespace benchmark
