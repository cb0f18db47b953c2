// Real sentence pairs, where the environment says that there are any.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace bahdanau::test {

/// The folder that BAHDANAU_DATA_DIR names; empty, and said so, where it is not set.
inline std::filesystem::path data_directory() {
  const char* directory = std::getenv("BAHDANAU_DATA_DIR");
  if (directory != nullptr && *directory != '\0') return directory;
  std::puts("skipped: BAHDANAU_DATA_DIR is not set");
  return {};
}

}  // namespace bahdanau::test
