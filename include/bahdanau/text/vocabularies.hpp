// What turns sentences into ids on both sides of a model: two vocabularies and the way the text was cut.
// A corpus makes one, a model keeps it, and the model file carries it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <bahdanau/text/detokenize.hpp>
#include <bahdanau/text/tokenize.hpp>
#include <bahdanau/text/truecase.hpp>
#include <bahdanau/text/vocabulary.hpp>

namespace bahdanau {

namespace detail {

/// The tokens of a sentence as a model meets them: with the case that its vocabulary knows.
inline std::vector<std::string> side_tokens(std::string_view sentence, const TextSide& side,
                                            const Vocabulary& vocabulary) {
  std::vector<std::string> tokens = tokenize(sentence, side);
  if (side.truecase)
    if (const std::size_t first = first_word(tokens); first < tokens.size())
      tokens[first] = truecased(tokens[first], vocabulary);
  return tokens;
}

}  // namespace detail

/// How many tokens of a model another one has, too.
struct KnownTokens {
  std::size_t source = 0, target = 0;
};

/// The vocabularies of the source and the target language, and how their text becomes tokens.
struct Vocabularies {
  Vocabulary source;
  Vocabulary target;
  TextOptions text;

  bool operator==(const Vocabularies&) const = default;

  /// A sentence's tokens as the model has them, `<eos>` not among them. Throws for text that is not UTF-8.
  std::vector<std::string> source_tokens(std::string_view sentence) const {
    return detail::side_tokens(sentence, text.source_side(), source);
  }
  std::vector<std::string> target_tokens(std::string_view sentence) const {
    return detail::side_tokens(sentence, text.target_side(), target);
  }
  /// Tokens of the target as a line of text.
  std::string target_text(std::span<const std::string> tokens) const {
    return detokenize(tokens, text.target_side());
  }
};

}  // namespace bahdanau
