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

#include <bahdanau/decode/token_row.hpp>
#include <bahdanau/model/sequence_model.hpp>
#include <bahdanau/model/translation.hpp>
#include <bahdanau/text/pairs.hpp>
#include <bahdanau/text/vocabularies.hpp>

namespace bahdanau {

namespace detail {

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

/// Scores given translations, `batch` pairs at a time; the results do not depend on it beyond rounding.
/// Throws for text that is not UTF-8.
template <class Model>
std::vector<Translation> score_pairs(const Model& model, std::span<const SentencePair> pairs,
                                     std::size_t batch = 32) {
  if (batch == 0) fail("score_pairs", "a batch of at least 1", "0");
  const Vocabularies& v = model.vocabularies();
  std::vector<Translation> out;
  for (std::size_t begin = 0; begin < pairs.size(); begin += batch) {
    std::vector<std::vector<Token>> sources, targets;
    for (const SentencePair& pair : pairs.subspan(begin, std::min(batch, pairs.size() - begin))) {
      sources.push_back(detail::token_row(v.source, v.source_tokens(pair.source)));
      targets.push_back(detail::token_row(v.target, v.target_tokens(pair.target)));
    }
    const Batch rows{Sequences::from_rows(sources), Sequences::from_rows(targets)};
    const auto decoded = model.forward(rows);
    const Array<double, 2> log_probs = log_probabilities(decoded.logits, rows.target);
    for (std::size_t b = 0; b < sources.size(); ++b) {
      Translation scored;
      scored.source = detail::spelled(v.source, sources[b]);
      scored.target = detail::spelled(v.target, targets[b]);
      scored.text = v.target_text(std::span(scored.target).first(scored.target.size() - 1));
      const auto keys = static_cast<std::size_t>(decoded.keys[b]);
      scored.attention = Array<float, 2>::from_shape({targets[b].size(), keys});
      const std::size_t heads = decoded.heads.shape(1);
      if (heads > 0) scored.heads = Array<float, 3>::from_shape({heads, targets[b].size(), keys});
      for (std::size_t t = 0; t < targets[b].size(); ++t) {
        scored.log_probs.push_back(log_probs(b, t));
        scored.score += log_probs(b, t);
        for (std::size_t s = 0; s < keys; ++s)
          scored.attention(t, s) = static_cast<float>(decoded.attention(b, t, s));
        for (std::size_t h = 0; h < heads; ++h)
          for (std::size_t s = 0; s < keys; ++s)
            scored.heads(h, t, s) = static_cast<float>(decoded.heads(b, h, t, s));
      }
      out.push_back(std::move(scored));
    }
  }
  return out;
}

}  // namespace bahdanau
