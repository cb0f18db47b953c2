// True case: a sentence begins with a capital whatever its first word is, so that word is written as it
// mostly is inside of sentences. What is known of it is the vocabulary, whose frequent tokens come first.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include <utf8proc.h>

#include <bahdanau/core/token.hpp>
#include <bahdanau/text/marks.hpp>
#include <bahdanau/text/normalize.hpp>
#include <bahdanau/text/vocabulary.hpp>

namespace bahdanau::detail {

/// The place of a sentence's first word, behind quotes and the like; the number of tokens if there is none.
inline std::size_t first_word(std::span<const std::string> tokens) {
  std::size_t i = 0;
  while (i < tokens.size() &&
         (tokens[i].empty() || character(code_point("truecase", tokens[i], 0).value) == Character::mark))
    ++i;
  return i;
}

/// The word with its first letter in lower case.
inline std::string uncapitalized(std::string_view word) {
  std::string out(word);
  if (word.empty()) return out;
  const auto [value, bytes] = code_point("truecase", word, 0);
  utf8proc_uint8_t encoded[4];
  const auto length = utf8proc_encode_char(utf8proc_tolower(value), encoded);
  return out.replace(0, bytes, reinterpret_cast<const char*>(encoded), static_cast<std::size_t>(length));
}

/// A sentence's first word as a vocabulary has it: of the two spellings the one that is more frequent, and as
/// it is where neither is known.
inline std::string truecased(const std::string& word, const Vocabulary& vocabulary) {
  std::string lower = uncapitalized(word);
  const Token written = vocabulary.id(word), other = vocabulary.id(lower);
  if (other == reserved::unk) return word;
  return written == reserved::unk || other < written ? lower : word;
}

}  // namespace bahdanau::detail
