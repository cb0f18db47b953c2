// Files of one program that are compiled for different instructions use the same models, and compute the same
// bits.
#include <algorithm>
#include <cstdio>
#include <exception>

#include "logits.hpp"

int main() {
  try {
    const Model a = plain::make(), b = wide::make();
    const auto first = plain::logits(a);
    bool equal = true;
    for (const auto& other : {wide::logits(a), plain::logits(b), wide::logits(b)})
      equal = equal && other.size() == first.size() && std::equal(first.begin(), first.end(), other.begin());
    equal = equal && plain::translation(a) == wide::translation(a) &&
            wide::translation(a) == plain::translation(b);
    std::printf("%zu logits, %s\n", first.size(), equal ? "the same bits" : "DIFFERENT");
    return equal ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
