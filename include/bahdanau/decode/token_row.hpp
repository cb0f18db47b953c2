// Sentences to rows of ids with `<eos>`, and ids back to their spellings.
// What forced decoding and the searches share.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <bahdanau/core/token.hpp>
#include <bahdanau/text/vocabulary.hpp>

namespace bahdanau::detail {

/// The ids of a sentence's tokens, with `<eos>`.
inline std::vector<Token> token_row(const Vocabulary& vocabulary, const std::vector<std::string>& tokens) {
  std::vector<Token> ids = vocabulary.encode(tokens);
  ids.push_back(reserved::eos);
  return ids;
}

inline std::vector<std::string> spelled(const Vocabulary& vocabulary, std::span<const Token> ids) {
  std::vector<std::string> out;
  for (const Token id : ids) out.push_back(vocabulary.token(id));
  return out;
}

}  // namespace bahdanau::detail
