// A directory of its own for a test that writes files.
// It is gone, with all that is in it, when the test ends, whatever the result.
#pragma once

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

namespace bahdanau::test {

/// Made when it is constructed, under a name that nobody else has; removed when it is destroyed.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    // mkdtemp puts letters of its own in the place of the last six.
    std::string name =
        (std::filesystem::temp_directory_path() / "bahdanau-test-").string() + std::string(6, 'X');
    if (::mkdtemp(name.data()) == nullptr) {
      throw std::system_error(errno, std::generic_category(), "mkdtemp " + name);
    }
    path_ = name;
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace bahdanau::test
