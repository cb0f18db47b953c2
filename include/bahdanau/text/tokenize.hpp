// Sentences to tokens: words, words and marks, characters for scripts without spaces, pieces of words, or
// what stands between spaces. The way back is text/detokenize.hpp.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <bahdanau/core/error.hpp>
#include <bahdanau/text/marks.hpp>
#include <bahdanau/text/normalize.hpp>
#include <bahdanau/text/text_options.hpp>

namespace bahdanau {

namespace detail {

/// What a space is as a token: U+2581, as SentencePiece has it. In text it counts as a space, too.
inline constexpr std::string_view visible_space = "\u2581";

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

/// The text with plain spaces, and in lower case if asked.
inline std::string folded(std::string_view sentence, bool lowercase) {
  std::string result;
  result.reserve(sentence.size());
  fold("tokenize", sentence, lowercase, [&](std::string_view character) { result.append(character); });
  return result;
}

/// Calls `emit` with each code point; with `spaces`, also with what stands for those between others.
template <class Emit>
void split_characters(std::string_view sentence, bool lowercase, bool spaces, Emit emit) {
  bool any = false, space = false;
  fold("tokenize", sentence, lowercase, [&](std::string_view character) {
    if (character == " " || (spaces && character == visible_space)) {
      space = true;
      return;
    }
    if (spaces && space && any) emit(visible_space);
    any = true;
    space = false;
    emit(character);
  });
}

/// Throws for settings of two sides where those of one are wanted, unless they are the same.
inline TextSide only_side(std::string_view where, const TextOptions& options) {
  TextSide side = options.source_side();
  if (!(side == options.target_side()))
    fail(where, "the settings of one side", "those of two that differ",
         "pass source_side() or target_side()");
  return side;
}

}  // namespace detail

/// A sentence's tokens. Control characters, a tab say, count as spaces. Where case is by `truecase` it is
/// left as it is: that takes a vocabulary (Vocabularies::source_tokens). Throws for text that is not UTF-8,
/// with the offset of the byte.
inline std::vector<std::string> tokenize(std::string_view sentence, const TextSide& side) {
  std::vector<std::string> result;
  const auto add = [&](std::string_view token) { result.emplace_back(token); };
  const bool lowercase = !side.cased();
  switch (side.tokens) {
    case Tokens::words:
      return detail::split_on_spaces(normalize(sentence, lowercase));
    case Tokens::words_and_marks:
      detail::split_marks(detail::folded(sentence, lowercase), add);
      return result;
    case Tokens::characters:
      detail::split_characters(sentence, lowercase, side.spaces, add);
      return result;
    case Tokens::subwords:
      side.check("tokenize");
      return side.subwords->split(detail::folded(sentence, lowercase));
    case Tokens::none:
      break;
  }
  detail::require_utf8("tokenize", sentence);
  return detail::split_on_spaces(detail::without_controls(sentence));
}
/// The same where both sides have the same settings; throws where they do not. A template, so that `{}` means
/// one side.
template <std::same_as<TextOptions> Options>
std::vector<std::string> tokenize(std::string_view sentence, const Options& options) {
  return tokenize(sentence, detail::only_side("tokenize", options));
}

/// How many tokens `tokenize` gives, without making them where that can be had: a stranger's line may be as
/// long as memory.
inline std::size_t count_tokens(std::string_view sentence, const TextSide& side) {
  std::size_t count = 0;
  bool after_space = true;
  const auto see = [&](bool space, bool starts) {
    if (!space && (starts || after_space)) ++count;
    after_space = space;
  };
  switch (side.tokens) {
    case Tokens::subwords:
      return tokenize(sentence, side).size();
    case Tokens::words_and_marks:
      detail::split_marks(detail::folded(sentence, false), [&](std::string_view) { ++count; });
      break;
    case Tokens::characters:
      detail::split_characters(sentence, false, side.spaces, [&](std::string_view) { ++count; });
      break;
    case Tokens::words:
      detail::fold("normalize", sentence, false, [&](std::string_view character) {
        see(character == " ", detail::is_mark(character.front()));
      });
      break;
    case Tokens::none:
      for (std::size_t i = 0; i < sentence.size();) {
        const auto [value, bytes] = detail::code_point("tokenize", sentence, i);
        see(value == ' ' || detail::is_control(value), false);
        i += bytes;
      }
  }
  return count;
}
template <std::same_as<TextOptions> Options>
std::size_t count_tokens(std::string_view sentence, const Options& options) {
  return count_tokens(sentence, detail::only_side("count_tokens", options));
}

}  // namespace bahdanau
