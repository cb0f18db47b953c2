// Real sentence pairs, where the environment says that there are any.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace bahdanau::test {

/// A file in the folder that BAHDANAU_DATA_DIR names; empty, and said so, where there is none. A test then
/// checks nothing, and ctest counts a program without any check as skipped.
inline std::filesystem::path data_file(const std::string& name) {
  const char* directory = std::getenv("BAHDANAU_DATA_DIR");
  if (directory == nullptr || *directory == '\0') {
    std::puts("skipped: BAHDANAU_DATA_DIR is not set");
    return {};
  }
  const std::filesystem::path file = std::filesystem::path(directory) / name;
  if (std::filesystem::exists(file)) return file;
  std::printf("skipped: there is no %s\n", file.c_str());
  return {};
}

inline std::filesystem::path french_pairs() { return data_file("fra-eng/fra.txt"); }
inline std::filesystem::path chinese_pairs() { return data_file("cmn-eng/cmn.txt"); }

}  // namespace bahdanau::test
