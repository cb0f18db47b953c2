// The recorded numbers of tests/golden/data as ordinary arrays.
// A missing name or an unexpected rank is an exception, so that a test cannot pass on nothing.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include <bahdanau/core/array.hpp>
#include <bahdanau/core/error.hpp>
#include <bahdanau/io/safetensors.hpp>

namespace bahdanau::test {

/// Where a recorded file is.
inline std::string golden_path(const std::string& file) {
  std::string path = BAHDANAU_GOLDEN_DIR;  // piece by piece: g++ 12 warns of sums of strings for no reason
  path += '/';
  path += file;
  return path;
}

/// A recorded tensor; T is `float` or `double` for recorded numbers, `std::int32_t` for tokens and lengths.
template <class T, std::size_t Rank>
Array<T, Rank> golden_array(const SafetensorsFile& file, const std::string& name) {
  const std::vector<T> values = file.template read<T>(name);
  const std::vector<std::size_t>& shape = file.tensors().find(name)->second.shape;
  detail::require_equal("golden_array of " + name, "rank", shape.size(), Rank);
  std::array<std::size_t, Rank> extents{};
  std::copy_n(shape.begin(), Rank, extents.begin());
  auto out = Array<T, Rank>::from_shape(extents);
  std::copy_n(values.begin(), values.size(), out.data());
  return out;
}

}  // namespace bahdanau::test
