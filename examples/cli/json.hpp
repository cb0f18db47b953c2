// JSON as all commands write it: compact, UTF-8 as it is, and numbers with as few digits as bring them back.
// Appended to a string piece by piece, because the order of keys matters and the objects are large.
#pragma once

#include <array>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <bahdanau/core/array.hpp>
#include <bahdanau/model/translation.hpp>

namespace cli::json {

inline void append(std::string& out, const std::string& text) { out += nlohmann::json(text).dump(); }

/// A finite number; a float has the digits of a float, so 0.1f is 0.1.
template <class Number>
requires std::floating_point<Number> || std::integral<Number>
void append(std::string& out, Number number) {
  std::array<char, 32> buffer{};
  out.append(buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), number).ptr);
}

template <class T>
void append(std::string& out, std::span<const T> items) {
  char before = '[';
  for (const T& item : items) {
    out += before;
    append(out, item);
    before = ',';
  }
  out += items.empty() ? "[]" : "]";
}

template <class T>
void append(std::string& out, const std::vector<T>& items) {
  append(out, std::span<const T>(items));
}

/// A matrix as an array of its rows.
template <class T>
void append(std::string& out, const bahdanau::Array<T, 2>& matrix) {
  const std::size_t rows = matrix.shape(0), cols = matrix.shape(1);
  std::vector<std::span<const T>> views;
  for (std::size_t r = 0; r < rows; ++r) views.emplace_back(matrix.data() + r * cols, cols);
  append(out, views);
}

/// {"source":[…],"target":[…],"score":…,"log_probs":[…],"attention":[[…],…]}, and, above 0, "rank":…
inline void append(std::string& out, const bahdanau::Translation& translation, std::size_t rank = 0) {
  append(out += R"({"source":)", translation.source);
  append(out += R"(,"target":)", translation.target);
  append(out += R"(,"score":)", translation.score);
  append(out += R"(,"log_probs":)", translation.log_probs);
  append(out += R"(,"attention":)", translation.attention);
  append(out += R"(,"text":)", translation.text);
  if (rank > 0) append(out += R"(,"rank":)", rank);
  out += '}';
}

/// The answer to a line that has none: {"error":…}, or without JSON an empty line.
inline void append_problem(std::string& out, const std::string& problem, bool as_json) {
  if (as_json) {
    append(out += R"({"error":)", problem);
    out += '}';
  }
  out += '\n';
}

}  // namespace cli::json
