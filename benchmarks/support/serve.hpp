// The line protocol between the driver (run.py) and a program that it times: commands on stdin, one answer
// line each. Nothing here knows what is timed, so that our programs, the floor and the libtorch peer share
// it.
#pragma once

#include <chrono>
#include <cstddef>
#include <exception>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace benchmark {

using Words = std::vector<std::string>;

/// Something that can be done over and over.
class Task {
 public:
  Task() = default;
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  virtual ~Task() = default;

  /// Numbers that every contestant must agree on.
  virtual std::string check() = 0;
  virtual void run(std::size_t iterations) = 0;
  /// A setting that may change between runs: `threads 2`, `adam fused`.
  virtual void set(const std::string& key, const std::string& value) {
    throw std::runtime_error("no setting " + key + " " + value);
  }
  /// Whatever else it can tell; `name` is the command's second word.
  virtual std::string tell(const std::string& name) {
    throw std::runtime_error("nothing to tell of " + name);
  }
};

inline double milliseconds_now() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::milli>(now).count();
}

/// The process's largest resident set so far, in MB of 1e6 bytes.
inline double peak_megabytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::stod(line.substr(6)) * 1024 / 1e6;
  throw std::runtime_error("no VmHWM in /proc/self/status");
}

/// Answers commands until stdin ends.
///   load WORDS...     makes the task that `make` makes of them         -> ok
///   set KEY VALUE     changes a setting of the task                    -> ok
///   check             -> the task's numbers
///   run N             -> milliseconds an iteration
///   tell NAME         -> what the task knows of it
///   memory            -> peak resident megabytes
///   about             -> what the program says of itself
/// A failure is answered by `error` and a sentence.
inline int serve(const std::function<std::unique_ptr<Task>(const Words&)>& make,
                 const std::string& about = {}) {
  std::unique_ptr<Task> task;
  std::cout.precision(9);
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream in(line);
    Words words;
    for (std::string word; in >> word;) words.push_back(word);
    try {
      const std::string command = words.empty() ? "" : words[0];
      if (command == "load") {
        task.reset();  // first, so that two never share the memory
        task = make({words.begin() + 1, words.end()});
        std::cout << "ok";
      } else if (command == "memory") {
        std::cout << peak_megabytes();
      } else if (command == "about") {
        std::cout << about;
      } else if (!task) {
        throw std::runtime_error("load first");
      } else if (command == "set") {
        task->set(words.at(1), words.at(2));
        std::cout << "ok";
      } else if (command == "check") {
        std::cout << task->check();
      } else if (command == "tell") {
        std::cout << task->tell(words.at(1));
      } else if (command == "run") {
        const std::size_t iterations = std::stoul(words.at(1));
        const double start = milliseconds_now();
        task->run(iterations);
        std::cout << (milliseconds_now() - start) / static_cast<double>(iterations);
      } else {
        throw std::runtime_error("unknown command: " + line);
      }
    } catch (const std::exception& error) {
      std::cout << "error " << error.what();
    }
    std::cout << std::endl;
  }
  return 0;
}

}  // namespace benchmark
