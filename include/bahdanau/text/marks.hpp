// Words and punctuation marks, each a token: quotes, brackets and colons stand by themselves, and what
// belongs to a word or a number stays in it: I'm, well-known, U.S, 3.14, 10:30.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <utf8proc.h>

#include <bahdanau/text/normalize.hpp>

namespace bahdanau::detail {

/// What a code point is to the splitter.
enum class Character { space, letter, digit, mark };

inline Character character(utf8proc_int32_t value) {
  switch (utf8proc_category(value)) {
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return Character::space;
    case UTF8PROC_CATEGORY_ND:
      return Character::digit;
    case UTF8PROC_CATEGORY_PC:
    case UTF8PROC_CATEGORY_PD:
    case UTF8PROC_CATEGORY_PS:
    case UTF8PROC_CATEGORY_PE:
    case UTF8PROC_CATEGORY_PI:
    case UTF8PROC_CATEGORY_PF:
    case UTF8PROC_CATEGORY_PO:
    case UTF8PROC_CATEGORY_SM:
    case UTF8PROC_CATEGORY_SC:
    case UTF8PROC_CATEGORY_SK:
    case UTF8PROC_CATEGORY_SO:
      return Character::mark;
    default:
      return Character::letter;  // with what combines with one
  }
}

/// Whether a mark between two characters belongs to their word.
inline bool joins(utf8proc_int32_t mark, Character before, Character after) {
  const auto of_word = [](Character c) { return c == Character::letter || c == Character::digit; };
  const bool digits = before == Character::digit && after == Character::digit;
  const bool letters = before == Character::letter && after == Character::letter;
  switch (mark) {
    case '\'':
    case 0x2019:  // ’
    case '-':
    case 0x2010:  // hyphens
    case 0x2011:
    case '_':
    case '&':
    case '@':
      return of_word(before) && of_word(after);
    case '.':
      return digits || letters;
    case ',':
    case ':':
    case 0x2013:  // 1914–1918
      return digits;
    default:
      return false;
  }
}

/// Calls `emit` with each token of a folded text. Equal marks side by side are one: `...`, `!!`. What people
/// see as one character is never divided: a flag, or a sign with its colour.
template <class Emit>
void split_marks(std::string_view text, Emit emit) {
  constexpr std::string_view where = "tokenize";
  std::size_t begin = 0;  // of the token at hand
  Character before = Character::space;
  utf8proc_int32_t last_mark = -1;  // that the token at hand is made of
  utf8proc_int32_t previous = ' ', grapheme = 0;
  for (std::size_t i = 0; i < text.size();) {
    const auto [value, bytes] = code_point(where, text, i);
    const Character kind = character(value);
    const std::size_t next = i + bytes;
    const bool same_grapheme = !utf8proc_grapheme_break_stateful(previous, value, &grapheme) && i > begin;
    previous = value;
    if (same_grapheme) {
      i = next;
      continue;
    }
    bool starts = false;
    if (kind == Character::mark) {
      const Character after =
          next < text.size() ? character(code_point(where, text, next).value) : Character::space;
      const bool joined = last_mark < 0 && joins(value, before, after);
      starts = !joined && value != last_mark;
      if (!joined) last_mark = value;
    } else {
      starts = kind == Character::space || last_mark >= 0;
      last_mark = -1;
    }
    if (starts) {
      if (begin < i) emit(text.substr(begin, i - begin));
      begin = kind == Character::space ? next : i;
    }
    before = kind;
    i = next;
  }
  if (begin < text.size()) emit(text.substr(begin));
}

}  // namespace bahdanau::detail
