// How far two arrays are apart, as one number that a test compares with its tolerance.
// Another shape or a NaN is infinitely far, so neither can pass for agreement.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include <bahdanau/core/array.hpp>

namespace bahdanau::test {

/// max |a - b| over n elements; infinity if any of them is not a number.
template <class T>
double largest_difference(const T* a, const T* b, std::size_t n) {
  double largest = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double difference = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    if (std::isnan(difference)) return std::numeric_limits<double>::infinity();
    largest = std::max(largest, difference);
  }
  return largest;
}

/// The same for lists; infinity if their sizes differ.
template <class T>
double largest_difference(const std::vector<T>& a, const std::vector<T>& b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  return largest_difference(a.data(), b.data(), a.size());
}

/// The same for arrays; infinity if their shapes differ.
template <class T, std::size_t Rank>
double largest_difference(const Array<T, Rank>& a, const Array<T, Rank>& b) {
  if (a.shape() != b.shape()) return std::numeric_limits<double>::infinity();
  return largest_difference(a.data(), b.data(), a.size());
}

}  // namespace bahdanau::test
