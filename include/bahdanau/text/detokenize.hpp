// Tokens to text: joined by spaces, or as a language sets its punctuation; characters and pieces as they
// were. What each mark does to the spaces beside it is one table per language.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <utf8proc.h>

#include <bahdanau/text/marks.hpp>
#include <bahdanau/text/normalize.hpp>
#include <bahdanau/text/text_options.hpp>
#include <bahdanau/text/tokenize.hpp>

namespace bahdanau {

namespace detail {

/// The marks of a language by what they do to the spaces beside them; each string holds code points.
struct Punctuation {
  std::u32string_view no_space_before, no_space_after;
  std::u32string_view narrow_before, wide_before, wide_after;  // U+202F before; U+00A0 before and after
  bool cjk = false;                                            // a space only between words in other scripts
  std::u32string_view currencies = U"$£¥";                     // that stand before their amount
};

inline constexpr Punctuation punctuation_of(Language language) {
  switch (language) {
    case Language::french:
      return {U",.…)]}”’‰°", U"([{“‘#@", U"!?;", U":»%€", U"«"};
    case Language::german:
      return {U",.;:!?…)]}“”‘’«°", U"([{„‚»#@", {}, U"%‰€", {}};
    case Language::spanish:
      return {U",.;:!?…)]}”’»%‰°", U"([{“‘«¿¡#@", {}, {}, {}};
    case Language::chinese:
      return {U",.;:!?…)]}”’»%‰°", U"([{“‘«#@", {}, {}, {}, true};
    default:
      return {U",.;:!?…)]}”’»%‰°", U"([{“‘«¿¡#@", {}, {}, {}, false, U"$£¥€"};
  }
}

/// Whether text in this script has no spaces between its words, and its marks bring their own.
inline bool is_cjk(utf8proc_int32_t value) {
  return (value >= 0x2E80 && value <= 0x9FFF) || (value >= 0xF900 && value <= 0xFAFF) ||
         (value >= 0xFF00 && value <= 0xFFEF) || (value >= 0x20000 && value <= 0x3FFFF);
}

/// What stands before a token when text is made of tokens.
class Spacing {
 public:
  /// For these tokens, in their order: whether a straight quote is an apostrophe depends on the others.
  Spacing(Language language, std::span<const std::string> tokens)
      : marks_(punctuation_of(language)), apostrophe_(apostrophe_in(tokens)) {}

  /// The space between the token before, if there was one, and this one.
  std::string_view before(std::string_view token) {
    const utf8proc_int32_t first = code_point("detokenize", token, 0).value;
    // A word that begins with a mark, as d2l's words may, is a word: what its mark does is inside of it. Only
    // the marks that d2l puts a space before go back to where they were, as in 3.14.
    const bool all_marks = of_marks(token), mark = all_marks || is_mark(token.front());
    const bool wide_script = marks_.cjk && is_cjk(first);
    std::string_view space = after_;
    // "5 $", but "$5": an amount behind a currency's sign belongs to it.
    if (amount_may_follow_ && character(first) == Character::digit) space = "";
    amount_may_follow_ =
        all_marks && marks_.currencies.find(static_cast<char32_t>(first)) != marks_.currencies.npos;
    bool opens = false;
    const auto in = [&](std::u32string_view set) {
      return set.find(static_cast<char32_t>(first)) != set.npos;
    };
    if (is_straight_quote(token)) {
      if (token == "'" && singles_++ == apostrophe_) {
        space = "";
      } else {
        // An odd one opens, an even one closes.
        bool& open = token.front() == '"' ? double_open_ : single_open_;
        opens = open = !open;
        if (!opens) space = "";
      }
    } else if (mark) {
      if (in(marks_.no_space_before) || (all_marks && first == '/')) space = "";
      if (any_ && in(marks_.narrow_before)) space = exclaimed_ ? "" : "\u202f";
      if (any_ && in(marks_.wide_before)) space = "\u00a0";
      opens = all_marks && (in(marks_.no_space_after) || first == '/');
      if (all_marks && in(marks_.wide_after)) {
        if (!any_) space = "";
        after_ = "\u00a0";
        any_ = true;
        exclaimed_ = false;
        return space;
      }
    }
    exclaimed_ = all_marks && in(U"!?");  // "?!" is one mark
    if (wide_script || (marks_.cjk && cjk_)) space = "";
    cjk_ = wide_script;
    if (!any_) space = "";
    any_ = true;
    after_ = opens ? "" : " ";
    return space;
  }

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  static bool is_straight_quote(std::string_view token) { return token == "\"" || token == "'"; }
  static bool of_marks(std::string_view token) {
    for (std::size_t i = 0; i < token.size();) {
      const auto [value, bytes] = code_point("detokenize", token, i);
      if (character(value) != Character::mark) return false;
      i += bytes;
    }
    return true;
  }

  /// Which of the straight single quotes has no other, and stands behind an s: "his parents' house".
  static std::size_t apostrophe_in(std::span<const std::string> tokens) {
    std::size_t count = 0, found = none;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (tokens[i] != "'") continue;
      const bool behind_s = i > 0 && (tokens[i - 1].ends_with('s') || tokens[i - 1].ends_with('S'));
      if (behind_s && found == none) found = count;
      ++count;
    }
    return count % 2 == 1 ? found : none;
  }

  Punctuation marks_;
  std::size_t apostrophe_, singles_ = 0;  // its number among single quotes; those that were seen
  std::string_view after_;  // what stands behind the token before, unless this one says otherwise
  bool any_ = false, cjk_ = false, amount_may_follow_ = false, exclaimed_ = false;
  bool double_open_ = false, single_open_ = false;
};

/// The text with its first letter, whatever stands before it, as a capital.
inline std::string capitalized(std::string_view text) {
  std::string out(text);
  for (std::size_t i = 0; i < text.size();) {
    const auto [value, bytes] = code_point("detokenize", text, i);
    if (const Character kind = character(value); kind == Character::letter || kind == Character::digit) {
      utf8proc_uint8_t encoded[4];
      const auto length = utf8proc_encode_char(utf8proc_toupper(value), encoded);
      out.replace(i, bytes, reinterpret_cast<const char*>(encoded), static_cast<std::size_t>(length));
      break;
    }
    i += bytes;
  }
  return out;
}

}  // namespace detail

/// The tokens as a line of text, as settings of a side have it.
inline std::string detokenize(std::span<const std::string> tokens, const TextSide& side) {
  if (side.tokens == Tokens::subwords) {
    side.check("detokenize");
    return detail::without_controls(
        side.subwords->join(tokens));  // of bytes that are pieces: a line is one line
  }
  std::size_t size = 3 * tokens.size();  // a space has three bytes at most
  for (const std::string& token : tokens) size += token.size();
  std::string result;
  result.reserve(size);
  const bool characters = side.tokens == Tokens::characters;
  detail::Spacing spacing(side.language, tokens);
  for (const std::string& token : tokens) {
    if (characters) {
      result += side.spaces && token == detail::visible_space ? " " : token;
    } else if (side.language == Language::none || token.empty()) {
      if (&token != tokens.data()) result += ' ';
      result += token;
    } else {
      result.append(spacing.before(token)).append(token);
    }
  }
  if (side.truecase) return detail::capitalized(result);
  return result;
}
inline std::string detokenize(const std::vector<std::string>& tokens, Tokens kind) {
  return detokenize(tokens, TextSide{.tokens = kind});
}

}  // namespace bahdanau
