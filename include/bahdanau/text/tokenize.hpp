// Sentences to tokens and back: words, characters for scripts without spaces, or spaces alone.
// How it was done is written into the model file, so that a sentence meets a model as the training text did.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <bahdanau/core/error.hpp>
#include <bahdanau/core/quote.hpp>
#include <bahdanau/text/normalize.hpp>

namespace bahdanau {

/// What a token is: a normalised word, a code point, or whatever stands between spaces.
enum class Tokens { words, characters, none };

/// The spelling in a model file.
constexpr std::string_view name(Tokens tokens) {
  return tokens == Tokens::words ? "words" : tokens == Tokens::characters ? "characters" : "none";
}

/// The kind of tokens with that spelling; throws with the choices if there is none.
inline Tokens tokens_from_name(std::string_view spelling) {
  for (Tokens tokens : {Tokens::words, Tokens::characters, Tokens::none}) {
    if (spelling == name(tokens)) return tokens;
  }
  fail("tokens", "\"words\", \"characters\" or \"none\"", detail::quote(spelling));
}

/// How text becomes rows of tokens; `max_length` is the width of a training row, `<eos>` included.
struct TextOptions {
  Tokens tokens = Tokens::words;
  bool lowercase = true;
  std::size_t max_length = 10;

  /// No sentence is as long; a file that asks for more would only make the reader run out of memory.
  static constexpr std::size_t longest = 65536;

  bool operator==(const TextOptions&) const = default;

  /// Throws for a `max_length` out of range.
  void check(std::string_view where) const {
    if (max_length >= 1 && max_length <= longest) return;
    fail(where, "a max_length from 1 to " + detail::text(longest), detail::text(max_length));
  }
};

namespace detail {

/// What stands between spaces, single or repeated.
inline std::vector<std::string> split_on_spaces(std::string_view line) {
  std::vector<std::string> result;
  for (std::size_t begin = line.find_first_not_of(' '); begin != line.npos;) {
    std::size_t end = std::min(line.find(' ', begin), line.size());
    result.emplace_back(line.substr(begin, end - begin));
    begin = line.find_first_not_of(' ', end);
  }
  return result;
}

}  // namespace detail

/// A sentence's tokens: normalised words, folded code points without spaces, or the text split and left
/// alone. Control characters, a tab say, count as spaces. Throws for text that is not UTF-8, with the offset
/// of the byte.
inline std::vector<std::string> tokenize(std::string_view sentence, const TextOptions& options) {
  if (options.tokens == Tokens::words) return detail::split_on_spaces(normalize(sentence, options.lowercase));
  if (options.tokens == Tokens::none) {
    detail::require_utf8("tokenize", sentence);
    return detail::split_on_spaces(detail::without_controls(sentence));
  }
  std::vector<std::string> result;
  detail::fold("tokenize", sentence, options.lowercase, [&result](std::string_view character) {
    if (character != " ") result.emplace_back(character);
  });
  return result;
}

/// The tokens as a line of text: joined by spaces, and characters without.
inline std::string detokenize(const std::vector<std::string>& tokens, Tokens kind) {
  std::size_t size = tokens.size();
  for (const std::string& token : tokens) size += token.size();
  std::string result;
  result.reserve(size);
  for (const std::string& token : tokens) {
    if (kind != Tokens::characters && &token != &tokens.front()) result += ' ';
    result += token;
  }
  return result;
}

}  // namespace bahdanau
