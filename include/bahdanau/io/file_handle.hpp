// An open file of the operating system, closed when it goes out of scope, whose errors name the path.
// POSIX, so that a file is read at a place and an error has the system's reason.
#pragma once

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <bahdanau/core/error.hpp>

namespace bahdanau::detail {

/// Throws `path: expected X, got "reason"` with the operating system's reason for an error number.
[[noreturn]] inline void fail_system(const std::filesystem::path& path, std::string_view expected, int error,
                                     std::string_view hint = {}) {
  fail(path.string(), expected, std::string("\"").append(std::generic_category().message(error)).append("\""),
       hint);
}

/// What a path leads to when it is not a regular file, as it stands in a message.
inline std::string_view kind_of_file(mode_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

/// Calls again while a signal interrupts, and returns what the call returned.
template <class Call>
auto uninterrupted(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

/// Owns a file descriptor.
class FileHandle {
 public:
  explicit FileHandle(int descriptor) : descriptor_(descriptor) {}
  FileHandle(FileHandle&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  FileHandle& operator=(FileHandle&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~FileHandle() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  int get() const { return descriptor_; }
  int release() { return std::exchange(descriptor_, -1); }
  explicit operator bool() const { return descriptor_ >= 0; }

 private:
  int descriptor_;
};

/// Opens a regular file for reading and returns it with its size; throws for anything else, with the reason.
inline std::pair<FileHandle, std::size_t> open_regular_file(const std::filesystem::path& path) {
  // O_NONBLOCK: a pipe without a writer must be refused below, not waited for.
  FileHandle file(uninterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); }));
  if (!file) fail_system(path, "a file that can be opened", errno);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) fail_system(path, "a file that can be examined", errno);
  if (!S_ISREG(status.st_mode)) fail(path.string(), "a regular file", kind_of_file(status.st_mode));
  return {std::move(file), static_cast<std::size_t>(status.st_size)};
}

/// Fills the buffer from a place in the file; throws if the file ends before. Safe from many threads at once.
inline void read_at(const std::filesystem::path& path, const FileHandle& file, std::size_t offset,
                    std::span<std::byte> buffer) {
  while (!buffer.empty()) {
    ssize_t count = uninterrupted(
        [&] { return ::pread(file.get(), buffer.data(), buffer.size(), static_cast<off_t>(offset)); });
    if (count < 0) fail_system(path, "a file that can be read", errno);
    if (count == 0) {
      fail(path.string(), text(buffer.size()) + " more bytes at offset " + text(offset),
           "the end of the file", "it has become shorter since it was opened");
    }
    offset += static_cast<std::size_t>(count);
    buffer = buffer.subspan(static_cast<std::size_t>(count));
  }
}

}  // namespace bahdanau::detail
