// Writing a file so that a crash leaves the old one or the new one, never half of it.
// The bytes go into a file beside the place, reach the disk, and only then take the name. What a killed
// process has left there goes with the next write to the same place.
#pragma once

#include <atomic>
#include <cerrno>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bahdanau/core/error.hpp>
#include <bahdanau/io/file_handle.hpp>

namespace bahdanau {

/// A file on its way: written beside its place, and put there by `commit`; without it nothing has happened.
class AtomicFile {
 public:
  /// Creates the file beside `path`, or beside what a symbolic link there leads to.
  /// Throws if the folder is missing or not writable, or if `path` is something else than a file.
  explicit AtomicFile(const std::filesystem::path& path) : path_(path), place_(resolve(path)), file_(-1) {
    struct stat status {};
    bool replaces = ::stat(place_.c_str(), &status) == 0;
    if (replaces && !S_ISREG(status.st_mode)) {
      fail(path_.string(), "the name of a file to write", detail::kind_of_file(status.st_mode));
    }
    create();
    // A file that is replaced keeps its permissions; failing that, the ones of a new file serve.
    if (replaces && ::fchmod(file_.get(), status.st_mode & 0777U) != 0) errno = 0;
  }

  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  ~AtomicFile() {
    if (!committed_) ::unlink(beside_.c_str());
  }

  /// Appends bytes; throws if the disk is full or fails.
  void write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      ssize_t count = detail::uninterrupted([&] { return ::write(file_.get(), bytes.data(), bytes.size()); });
      if (count < 0) detail::fail_system(path_, "to write " + detail::text(bytes.size()) + " bytes", errno);
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
  }
  void write(std::string_view bytes) { write(std::as_bytes(std::span(bytes))); }

  /// Puts the file in its place, to stay there if the power fails; throws if the disk fails.
  void commit() {
    if (detail::uninterrupted([&] { return ::fsync(file_.get()); }) != 0) {
      detail::fail_system(path_, "bytes that reach the disk", errno);
    }
    const detail::FileHandle keeps_the_lock(::fcntl(file_.get(), F_DUPFD_CLOEXEC, 0));
    // Some file systems report a failed write only here. EINTR: the descriptor is closed all the same.
    if (::close(file_.release()) != 0 && errno != EINTR) {
      detail::fail_system(path_, "bytes that reach the disk", errno);
    }
    if (::rename(beside_.c_str(), place_.c_str()) != 0) {
      detail::fail_system(path_, "to rename " + beside_.filename().string() + " to it", errno);
    }
    committed_ = true;
    sync_folder();
  }

 private:
  // The place that a link leads to, so that writing through a link keeps the link.
  static std::filesystem::path resolve(const std::filesystem::path& path) {
    std::error_code error;
    if (!std::filesystem::is_symlink(path, error)) return path;
    std::filesystem::path target = std::filesystem::canonical(path, error);
    return error ? path : target;
  }

  std::filesystem::path folder() const {
    return place_.has_parent_path() ? place_.parent_path() : std::filesystem::path(".");
  }

  // How the names of files on their way to this place begin; short, however long its own name is.
  std::string prefix() const {
    std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a: the same in every program
    for (const char c : place_.filename().string())
      hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    return ".bahdanau-" + detail::text(hash) + "-";
  }

  // O_EXCL makes the name ours alone; the process and the counter only make the first try likely to succeed.
  void create() {
    static std::atomic<unsigned> counter = 0;
    remove_stale();
    do {
      beside_ = folder() / (prefix() + detail::text(::getpid()) + "-" + detail::text(counter++) + ".tmp");
      file_ = detail::FileHandle(detail::uninterrupted(
          [&] { return ::open(beside_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666); }));
    } while (file_ ? !lock() : errno == EEXIST);
    if (!file_) detail::fail_system(path_, "a folder that can be written to", errno);
  }

  // The lock says that someone writes here; it ends with the process, however that ends. False where someone
  // else has taken the file for a stale one in the moment before.
  bool lock() const {
    const bool locked = detail::uninterrupted([&] { return ::flock(file_.get(), LOCK_EX); }) == 0;
    return !locked || has_a_name(file_);
  }
  static bool has_a_name(const detail::FileHandle& file) {
    struct stat status {};
    return ::fstat(file.get(), &status) != 0 || status.st_nlink > 0;
  }

  // Files on their way to the same place that nobody writes any more. Where that cannot be known they stay.
  void remove_stale() const {
    std::error_code error;
    const std::string begin = prefix();
    for (std::filesystem::directory_iterator entry(folder(), error), end; !error && entry != end;
         entry.increment(error)) {
      if (!entry->path().filename().string().starts_with(begin)) continue;
      // Not O_RDONLY: some file systems lock only what can be written to.
      const detail::FileHandle file(detail::uninterrupted(
          [&] { return ::open(entry->path().c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK); }));
      if (file && ::flock(file.get(), LOCK_EX | LOCK_NB) == 0 && has_a_name(file))
        ::unlink(entry->path().c_str());
    }
  }

  // The rename itself reaches the disk with the folder. A folder that may not be read, or whose file system
  // cannot do this, is left to the operating system.
  void sync_folder() const {
    detail::FileHandle handle(
        detail::uninterrupted([&] { return ::open(folder().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
    if (!handle) return;
    if (detail::uninterrupted([&] { return ::fsync(handle.get()); }) != 0 && errno == EIO) {
      detail::fail_system(path_, "a folder that reaches the disk", errno);
    }
  }

  std::filesystem::path path_;    // as the caller wrote it, for messages
  std::filesystem::path place_;   // where the file goes
  std::filesystem::path beside_;  // where it is until then
  detail::FileHandle file_;
  bool committed_ = false;
};

/// Writes a file as a whole: the old one stays if `write(AtomicFile&)` or the disk fails, and the error is
/// thrown.
template <std::invocable<AtomicFile&> Write>
void write_atomically(const std::filesystem::path& path, Write&& write) {
  AtomicFile file(path);
  std::forward<Write>(write)(file);
  file.commit();
}

/// Writes these bytes as a whole file; the old one stays if that fails, and the error is thrown.
inline void write_atomically(const std::filesystem::path& path, std::string_view bytes) {
  write_atomically(path, [bytes](AtomicFile& file) { file.write(bytes); });
}

}  // namespace bahdanau
