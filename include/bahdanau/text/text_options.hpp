// How text becomes tokens and tokens become text: settings of each side, and of a model's two sides together.
// They are written into the model file, so that a sentence meets a model as the training text did.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <bahdanau/core/error.hpp>
#include <bahdanau/core/quote.hpp>
#include <bahdanau/text/subwords.hpp>

namespace bahdanau {

/// What a token is: a word as d2l splits them; a word or a punctuation mark; a code point; whatever stands
/// between spaces; or a piece of a word, from a model of such pieces.
enum class Tokens { words, words_and_marks, characters, none, subwords };

/// Whose punctuation `detokenize` knows; with `none` tokens of text are joined by spaces.
enum class Language { none, english, french, german, spanish, chinese };

namespace detail {

inline constexpr std::string_view tokens_names[] = {"words", "words_and_marks", "characters", "none",
                                                    "subwords"};
inline constexpr std::string_view language_names[] = {"none",   "english", "french",
                                                      "german", "spanish", "chinese"};

/// The value with that spelling; throws with the choices if there is none.
template <class Enum, std::size_t count>
Enum from_name(std::string_view where, const std::string_view (&names)[count], std::string_view spelling) {
  std::string choices;
  for (std::size_t i = 0; i < count; ++i) {
    if (spelling == names[i]) return static_cast<Enum>(i);
    choices.append(i == 0 ? "" : i + 1 == count ? " or " : ", ").append(quote(names[i]));
  }
  fail(where, choices, quote(spelling));
}

}  // namespace detail

/// The spelling in a model file.
constexpr std::string_view name(Tokens tokens) {
  return detail::tokens_names[static_cast<std::size_t>(tokens)];
}
constexpr std::string_view name(Language language) {
  return detail::language_names[static_cast<std::size_t>(language)];
}

/// What has that spelling; throws with the choices if there is nothing.
inline Tokens tokens_from_name(std::string_view spelling) {
  return detail::from_name<Tokens>("tokens", detail::tokens_names, spelling);
}
inline Language language_from_name(std::string_view spelling) {
  return detail::from_name<Language>("language", detail::language_names, spelling);
}

/// The settings of one side, source or target.
struct TextSide {
  Tokens tokens = Tokens::words;
  bool lowercase = true;  // all of it, and so translations are
  bool truecase = false;  // in place of that: a sentence's first word is written as it mostly is inside of
                          // sentences, and a translation's first letter is a capital. For words
  Language language = Language::none;  // whose punctuation translations have
  bool spaces = true;                  // of `characters`: a space is a token, "▁"; in 0.1 it was none
  std::shared_ptr<const Subwords> subwords{};  // of `subwords`: the model that splits

  /// Settings that say nothing of such tokens do not count.
  bool operator==(const TextSide& other) const {
    return tokens == other.tokens && truecase == other.truecase && cased() == other.cased() &&
           language == other.language && (tokens != Tokens::characters || spaces == other.spaces) &&
           same_subwords(other);
  }

  /// Whether case is left as it is written. `none` leaves all of a text alone.
  bool cased() const { return truecase || !lowercase || tokens == Tokens::none; }

  /// Throws for settings that do not go together.
  void check(std::string_view where) const {
    const bool words = tokens == Tokens::words || tokens == Tokens::words_and_marks;
    if (truecase && !words)
      fail(where, "truecase with tokens \"words\" or \"words_and_marks\"", detail::quote(name(tokens)));
    if (language != Language::none && !words)
      fail(where, "a language with tokens \"words\" or \"words_and_marks\"", detail::quote(name(tokens)),
           "the others give text back as it was");
    if (tokens == Tokens::subwords && subwords == nullptr)
      fail(where, "a model of subwords", "none",
           "SentencePiece::train makes one, SentencePiece::read reads one");
    if (tokens != Tokens::subwords && subwords != nullptr)
      fail(where, "a model of subwords with tokens \"subwords\" alone", detail::quote(name(tokens)));
  }

  /// For messages: "characters, lower case".
  std::string text() const {
    std::string out(name(tokens));
    if (tokens == Tokens::characters && !spaces) out += " without spaces";
    if (truecase)
      out += ", true case";
    else if (!cased())
      out += ", lower case";
    if (language != Language::none) out.append(", ").append(name(language));
    return out;
  }

 private:
  bool same_subwords(const TextSide& other) const {
    if (subwords == other.subwords) return true;
    return subwords != nullptr && other.subwords != nullptr && subwords->kind() == other.subwords->kind() &&
           subwords->bytes() == other.subwords->bytes();
  }
};

/// How text becomes rows of tokens, on both sides of a model.
struct TextOptions {
  Tokens tokens = Tokens::words;  // of a side that has no settings of its own below
  bool lowercase = true;
  std::size_t max_length = 0;   // of a training row, `<eos>` included: longer ones are cut; 0: nothing is cut
  bool reverse_source = false;  // whether a model reads each source from its end, `<eos>` first
  std::optional<TextSide> source{}, target{};  // in place of `tokens` and `lowercase`

  /// No sentence is as long; a file that asks for more would only make the reader run out of memory.
  static constexpr std::size_t longest = 65536;

  /// The settings of a side.
  TextSide source_side() const { return source ? *source : TextSide{tokens, lowercase}; }
  TextSide target_side() const { return target ? *target : TextSide{tokens, lowercase}; }

  bool operator==(const TextOptions& other) const {
    return max_length == other.max_length && reverse_source == other.reverse_source &&
           source_side() == other.source_side() && target_side() == other.target_side();
  }

  /// What a sentence's loss is divided by: the width of d2l's rows, which is `max_length`, and d2l's 10 where
  /// rows have no common width.
  std::size_t loss_divisor() const { return max_length == 0 ? 10 : max_length; }

  /// Throws for a `max_length` out of range, and for settings that do not go together.
  void check(std::string_view where) const {
    if (max_length > longest)
      fail(where, "a max_length from 1 to " + detail::text(longest), detail::text(max_length),
           "without one, or with 0, nothing is cut");
    source_side().check(std::string(where) + ", source");
    target_side().check(std::string(where) + ", target");
  }
};

}  // namespace bahdanau
