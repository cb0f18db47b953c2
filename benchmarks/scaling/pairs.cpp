// Time per token from 1,000 to 160,000 pairs. Real sentences, drawn at random: the file is sorted by length.
// One vocabulary for all, for a larger one is more arithmetic.
#include <algorithm>
#include <cstdio>

#include "trainings.hpp"

namespace benchmark {

bool check_pairs(const char* pairs) {
  const auto corpus = bd::Corpus::read(pairs, {.min_frequency = 20, .max_length = 25});
  std::printf("time per token and number of pairs\n%10s %12s\n", "pairs", "ns/token");
  std::vector<double> all;
  for (const std::size_t count : {1'000U, 10'000U, 160'000U}) {
    const auto part = corpus.split(count, /*seed=*/count).second;
    std::vector<double> each;
    for (const auto& epoch : epochs_over(part, std::max<std::size_t>(1, 20'000 / count)))
      each.push_back(1e9 / epoch.tokens_per_second());
    std::nth_element(each.begin(), each.begin() + static_cast<std::ptrdiff_t>(each.size() / 2), each.end());
    all.push_back(each[each.size() / 2]);
    std::printf("%10zu %12.0f\n", count, all.back());
  }
  return verdict("slowest over fastest",
                 *std::max_element(all.begin(), all.end()) / *std::min_element(all.begin(), all.end()),
                 "at most", 1.15);
}

}  // namespace benchmark
