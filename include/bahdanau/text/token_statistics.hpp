// The tokens of one language while its text is read, and the vocabulary that they make.
// What is kept grows with the distinct tokens, not with the text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <bahdanau/text/tokenize.hpp>
#include <bahdanau/text/truecase.hpp>
#include <bahdanau/text/vocabulary.hpp>

namespace bahdanau::detail {

/// Counts the tokens of sentences of one side.
class TokenStatistics {
 public:
  /// A sentence by the numbers of its tokens in `counter()`.
  struct Sentence {
    std::vector<std::uint32_t> numbers;
    std::size_t first_word;  // its place, where case depends on it; else their count
  };

  explicit TokenStatistics(TextSide text) : text_(std::move(text)) {}

  Sentence add(std::string_view sentence) {
    const std::vector<std::string> tokens = tokenize(sentence, text_);
    Sentence added{{}, text_.truecase ? detail::first_word(tokens) : tokens.size()};
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const bool first = i == added.first_word;
      added.numbers.push_back(counter_.number(tokens[i], first ? 0 : 1));
      if (first) first_words_.number(tokens[i]);
    }
    return added;
  }

  const TextSide& text() const { return text_; }
  const TokenCounter& counter() const { return counter_; }

  /// The tokens seen at least so often. A first word counts for the spelling that is more frequent inside of
  /// sentences; for lower case, if neither is there.
  Vocabulary vocabulary(std::size_t min_frequency) const {
    if (text_.tokens == Tokens::subwords) return Vocabulary::of_pieces(text_.subwords->pieces());
    if (!text_.truecase) return Vocabulary::of_counts(counter_, min_frequency);
    TokenCounter all = counter_;
    for (std::size_t i = 0; i < first_words_.size(); ++i) {
      const std::string& word = first_words_.token(i);
      const std::string lower = uncapitalized(word);
      all.number(counter_.count_of(word) > counter_.count_of(lower) ? word : lower, first_words_.count(i));
    }
    return Vocabulary::of_counts(all, min_frequency);
  }

 private:
  TextSide text_;
  TokenCounter counter_, first_words_;  // first words apart, where case depends on them
};

}  // namespace bahdanau::detail
