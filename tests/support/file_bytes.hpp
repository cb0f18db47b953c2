// Whole files as strings, for tests that look at bytes or make them up.
// Nothing here checks anything: what is wrong shows in the assertions.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace bahdanau::test {

/// All bytes of a file; empty if it cannot be read.
inline std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Makes a file of these bytes.
inline void put(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

/// The eight bytes of a number, the lowest first.
inline std::string little_endian(std::uint64_t value) {
  std::string bytes;
  for (int shift = 0; shift < 64; shift += 8) bytes += static_cast<char>((value >> shift) & 0xFFU);
  return bytes;
}

}  // namespace bahdanau::test
