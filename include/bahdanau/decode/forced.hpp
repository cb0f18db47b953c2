// Forced decoding: how probable given target sentences are, token by token, and what was attended to.
// The search for better ones is elsewhere; this only scores what it is given.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <bahdanau/model/encoder_decoder.hpp>
#include <bahdanau/text/pairs.hpp>
#include <bahdanau/text/tokenize.hpp>

namespace bahdanau {

/// A pair as the model saw it, and what it thinks of it.
template <class Scalar>
struct ScoredPair {
  std::vector<std::string> source, target;  // tokens, each side with its `<eos>`; unknown words are `<unk>`
  std::vector<double> log_probs;            // ln p of every target token
  double score = 0;                         // their sum
  Array<Scalar, 2> attention;               // [target tokens, source tokens]
};

namespace detail {

/// A sentence's ids with `<eos>`.
inline std::vector<Token> token_row(const Vocabulary& vocabulary, const TextOptions& options,
                                    const std::string& sentence) {
  std::vector<Token> ids = vocabulary.encode(tokenize(sentence, options));
  ids.push_back(reserved::eos);
  return ids;
}

inline std::vector<std::string> spelled(const Vocabulary& vocabulary, std::span<const Token> ids) {
  std::vector<std::string> out;
  for (const Token id : ids) out.push_back(vocabulary.token(id));
  return out;
}

/// ln softmax(logits)[label], in double.
template <class Scalar>
double log_probability(std::span<const Scalar> logits, Token label) {
  const auto largest = static_cast<double>(*std::max_element(logits.begin(), logits.end()));
  double total = 0;
  for (const Scalar logit : logits) total += std::exp(static_cast<double>(logit) - largest);
  return static_cast<double>(logits[static_cast<std::size_t>(label)]) - largest - std::log(total);
}

}  // namespace detail

/// ln p of every valid target token of a batch [sentences, target steps]; 0 beyond a target's length.
template <class Scalar>
Array<double, 2> log_probabilities(const Array<Scalar, 3>& logits, const Sequences& target) {
  const std::size_t steps = logits.shape(1), vocabulary = logits.shape(2);
  target.check("log_probabilities", vocabulary);
  detail::require_equal("log_probabilities", "target rows:", logits.shape(0), target.rows());
  detail::require_equal("log_probabilities", "target steps:", steps, target.width());
  auto out = Array<double, 2>::from_shape({logits.shape(0), steps});
  std::fill(out.begin(), out.end(), 0.0);
  for (std::size_t b = 0; b < target.rows(); ++b)
    for (std::size_t t = 0; t < static_cast<std::size_t>(target.lengths[b]); ++t)
      out(b, t) = detail::log_probability(
          std::span<const Scalar>(logits.data() + (b * steps + t) * vocabulary, vocabulary),
          target.tokens(b, t));
  return out;
}

/// Scores sentence pairs, `batch` at a time; the results do not depend on it beyond rounding.
/// Throws for text that is not UTF-8, with the pair's number.
template <class Model>
std::vector<ScoredPair<typename Model::Scalar>> score_pairs(const Model& model,
                                                            std::span<const SentencePair> pairs,
                                                            std::size_t batch = 32) {
  using Scalar = typename Model::Scalar;
  const Vocabularies& v = model.vocabularies();
  std::vector<ScoredPair<Scalar>> out;
  for (std::size_t begin = 0; begin < pairs.size(); begin += batch) {
    std::vector<std::vector<Token>> sources, targets;
    for (std::size_t i = begin; i < std::min(pairs.size(), begin + batch); ++i) {
      sources.push_back(detail::token_row(v.source, v.text, pairs[i].source));
      targets.push_back(detail::token_row(v.target, v.text, pairs[i].target));
    }
    const Batch rows{Sequences::from_rows(sources), Sequences::from_rows(targets)};
    const Decoded<Scalar> decoded = model.forward(rows);
    const Array<double, 2> log_probs = log_probabilities(decoded.logits, rows.target);
    for (std::size_t b = 0; b < sources.size(); ++b) {
      ScoredPair<Scalar> scored{detail::spelled(v.source, sources[b]),
                                detail::spelled(v.target, targets[b]),
                                {},
                                0,
                                Array<Scalar, 2>::from_shape({targets[b].size(), sources[b].size()})};
      for (std::size_t t = 0; t < targets[b].size(); ++t) {
        scored.log_probs.push_back(log_probs(b, t));
        scored.score += log_probs(b, t);
        for (std::size_t s = 0; s < sources[b].size(); ++s)
          scored.attention(t, s) = decoded.attention(b, t, s);
      }
      out.push_back(std::move(scored));
    }
  }
  return out;
}

}  // namespace bahdanau
