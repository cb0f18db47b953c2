// Numbers to compute with in tests: drawn from the normal distribution, the same for the same key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <bahdanau/core/random.hpp>

namespace bahdanau::test {

template <class T>
std::vector<T> numbers(std::size_t n, std::uint64_t key) {
  std::vector<T> out(n);
  for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<T>(random::Key{key}.normal(i));
  return out;
}

}  // namespace bahdanau::test
