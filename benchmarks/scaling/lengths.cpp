// Source lengths from 10 to 100, at medium. For a given target all arithmetic is linear in the source's
// length: encoder, keys, scores and contexts. So what 50 more tokens cost must not depend on how many there
// are already.
#include <cstdio>

#include "trainings.hpp"

namespace benchmark {

bool check_lengths() {
  std::vector<Setting> settings;
  for (const std::size_t source : {10U, 25U, 50U, 75U, 100U}) settings.push_back({.source = source});
  const auto ms = milliseconds_a_batch(settings, 11);
  std::printf("source lengths\n%10s %12s %14s\n", "tokens", "ms/batch", "ms more/token");
  for (std::size_t i = 0; i < ms.size(); ++i)
    std::printf(
        "%10zu %12.1f %14.2f\n", settings[i].source, ms[i],
        i == 0 ? 0 : (ms[i] - ms[i - 1]) / static_cast<double>(settings[i].source - settings[i - 1].source));
  return verdict("a token from 50 to 100 over one from 10 to 50",
                 ((ms[4] - ms[2]) / 50) / ((ms[2] - ms[0]) / 40), "at most", 1.15);
}

}  // namespace benchmark
