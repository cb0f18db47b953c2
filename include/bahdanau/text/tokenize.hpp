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

/// How text becomes rows of tokens.
struct TextOptions {
  Tokens tokens = Tokens::words;
  bool lowercase = true;
  std::size_t max_length = 0;   // of a training row, `<eos>` included: longer ones are cut; 0: nothing is cut
  bool reverse_source = false;  // whether a model reads each source from its end, `<eos>` first

  /// No sentence is as long; a file that asks for more would only make the reader run out of memory.
  static constexpr std::size_t longest = 65536;

  bool operator==(const TextOptions&) const = default;

  /// What a sentence's loss is divided by: the width of d2l's rows, which is `max_length`, and d2l's 10 where
  /// rows have no common width.
  std::size_t loss_divisor() const { return max_length == 0 ? 10 : max_length; }

  /// Throws for a `max_length` out of range.
  void check(std::string_view where) const {
    if (max_length <= longest) return;
    fail(where, "a max_length from 1 to " + detail::text(longest), detail::text(max_length),
         "without one, or with 0, nothing is cut");
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

/// How many tokens `tokenize` gives, without making them: a stranger's line may be as long as memory.
inline std::size_t count_tokens(std::string_view sentence, const TextOptions& options) {
  std::size_t count = 0;
  bool after_space = true;
  const auto see = [&](bool space, bool starts) {
    if (!space && (starts || after_space)) ++count;
    after_space = space;
  };
  if (options.tokens == Tokens::none) {
    for (std::size_t i = 0; i < sentence.size();) {
      const auto [value, bytes] = detail::code_point("tokenize", sentence, i);
      see(value == ' ' || detail::is_control(value), false);
      i += bytes;
    }
    return count;
  }
  const bool characters = options.tokens == Tokens::characters;
  detail::fold(characters ? "tokenize" : "normalize", sentence, false, [&](std::string_view character) {
    see(character == " ", characters || detail::is_mark(character.front()));
  });
  return count;
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
