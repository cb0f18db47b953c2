// Two files of one program that are compiled for different instruction sets keep out of each other's way.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>

#include "logits.hpp"

int main() {
  const auto plain = plain_logits(), wide = wide_logits();
  if (plain.size() != wide.size()) return 1;
  float difference = 0;
  for (std::size_t i = 0; i < plain.size(); ++i)
    difference = std::max(difference, std::abs(plain.data()[i] - wide.data()[i]));
  std::printf("%zu logits, the largest difference is %g\n", plain.size(), static_cast<double>(difference));
  return difference < 1e-5F ? 0 : 1;
}
