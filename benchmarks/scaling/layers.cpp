// From 1 to 4 layers, at medium: what a layer costs must not grow with their number.
#include <cstdio>

#include "trainings.hpp"

namespace benchmark {

bool check_layers() {
  std::vector<Setting> settings;
  for (const std::size_t layers : {1U, 2U, 3U, 4U}) settings.push_back({.layers = layers});
  const auto ms = milliseconds_a_batch(settings, 11);
  std::printf("layers\n%10s %12s %12s %12s\n", "layers", "ms/batch", "ms/layer", "ms more");
  for (std::size_t i = 0; i < ms.size(); ++i)
    std::printf("%10zu %12.1f %12.1f %12.1f\n", i + 1, ms[i], ms[i] / static_cast<double>(i + 1),
                i == 0 ? 0 : ms[i] - ms[i - 1]);
  const bool per_layer = verdict("a layer of four over the only layer", ms[3] / 4 / ms[0], "at most", 1.15);
  return verdict("the fourth layer over the second", (ms[3] - ms[2]) / (ms[1] - ms[0]), "at most", 1.15) &&
         per_layer;
}

}  // namespace benchmark
