// What the fuzz programs share: decisions drawn from an input, files in memory, and the promise that bad
// input gets an Error with a sentence for people, and nothing else.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <string>
#include <string_view>

#include <unistd.h>

#include <bahdanau/core/error.hpp>
#include <bahdanau/text/normalize.hpp>

namespace bahdanau::fuzz {

/// Ends the program where a promise does not hold; libFuzzer then keeps the input.
inline void require(bool holds, std::string_view promise, std::string_view got = {}) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n%s\n", std::string(promise).c_str(), std::string(got).c_str());
  std::abort();
}

/// Whether text can be written to a terminal or a log as one line: UTF-8 without control characters.
inline bool is_plain(std::string_view text) {
  try {
    for (std::size_t i = 0; i < text.size();) {
      const auto [value, bytes] = detail::code_point("text", text, i);
      if (detail::is_control(value)) return false;
      i += bytes;
    }
  } catch (const Error&) {
    return false;
  }
  return true;
}

/// Runs f and says whether it went through. It may throw an Error whose message has the form that all have;
/// any other exception ends the program.
template <class F>
bool accepted(const F& f) {
  try {
    f();
    return true;
  } catch (const Error& error) {
    const std::string_view message = error.what();
    require(message.find(": expected ") != message.npos && message.find(", got ") != message.npos,
            "an error says what was expected and what came", message);
    require(message.size() < 2000, "no input floods a message", message);
    require(is_plain(message), "no input garbles a message", message);
    return false;
  }
}

/// Small decisions from the front of an input; zeros where it is used up.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : rest_(reinterpret_cast<const char*>(data), size) {}

  template <class T>
  T take() {
    T value{};
    const std::size_t count = std::min(sizeof(T), rest_.size());
    std::memcpy(&value, rest_.data(), count);
    rest_.remove_prefix(count);
    return value;
  }
  template <class T>
  T one_of(std::initializer_list<T> choices) {
    return *(choices.begin() + take<std::uint8_t>() % choices.size());
  }
  /// What is left, as text.
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

/// A file for readers that want a path: in TMPDIR, which run.sh puts into memory.
class File {
 public:
  explicit File(std::string_view name)
      : path_(std::filesystem::temp_directory_path() /
              ("fuzz-" + std::to_string(::getpid()) + "-" + std::string(name))) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }

  const std::filesystem::path& path() const { return path_; }
  void write(std::string_view bytes) const {
    std::ofstream(path_, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  std::string read() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::filesystem::path path_;
};

}  // namespace bahdanau::fuzz
