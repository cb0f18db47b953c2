// Translations with made-up attention for the tests of pictures.
// Rows are a softmax that follows the diagonal, so that they look like the real thing.
#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <bahdanau/model/translation.hpp>

namespace bahdanau::test {

inline Translation attention_example(std::vector<std::string> source, std::vector<std::string> target) {
  Translation result;
  result.attention = Array<float, 2>::from_shape({target.size(), source.size()});
  for (std::size_t i = 0; i < target.size(); ++i) {
    auto score = [&](std::size_t j) {
      return std::exp(-std::abs(static_cast<double>(i) - static_cast<double>(j)));
    };
    double sum = 0;
    for (std::size_t j = 0; j < source.size(); ++j) sum += score(j);
    for (std::size_t j = 0; j < source.size(); ++j)
      result.attention(i, j) = static_cast<float>(score(j) / sum);
  }
  result.source = std::move(source);
  result.target = std::move(target);
  return result;
}

/// So many words with a number each, and `<eos>`.
inline std::vector<std::string> numbered_words(const std::string& word, std::size_t count) {
  std::vector<std::string> result;
  for (std::size_t i = 0; i + 1 < count; ++i) result.push_back(word + std::to_string(i));
  result.emplace_back("<eos>");
  return result;
}

/// Labels that break naive writers: markup, quotes, controls, bytes that are no UTF-8, marks without a
/// letter.
inline std::vector<std::string> hostile_tokens() {
  return {"<b>",      "&",    "\"hi\"", "it's",   "&amp;", "]]>",  "</svg>",
          "\x1b[31m", "a\tb", "\xff",   "\u0301", "",      "<eos>"};
}

}  // namespace bahdanau::test
