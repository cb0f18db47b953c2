// Alignments from attention: of a translation that was searched for, greedily or with a beam, or of a given
// one that was scored (`score_pairs`). `<eos>` is no word: its row and its column are left out.
#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <bahdanau/align/alignment.hpp>
#include <bahdanau/core/error.hpp>
#include <bahdanau/core/shape.hpp>
#include <bahdanau/core/token.hpp>
#include <bahdanau/model/translation.hpp>

namespace bahdanau {

namespace detail {

/// How many of the tokens are words: all but an `<eos>` at the end.
inline std::size_t words_in(const std::vector<std::string>& tokens) {
  const bool ended = !tokens.empty() && tokens.back() == reserved::names[reserved::eos];
  return tokens.size() - (ended ? 1 : 0);
}

/// Throws unless attention has a row for each target token and a column for each source token.
inline void require_aligned(std::string_view where, const Translation& translation) {
  const auto& attention = translation.attention;
  const Shape got{attention.shape()[0], attention.shape()[1]};
  const Shape expected{translation.target.size(), translation.source.size()};
  if (got[0] > 0 && got[1] == 0 && expected[1] > 0)
    fail(where, "attention", "none", "the translation is of a model that does not attend");
  if (got != expected)
    fail(where, "attention " + expected.text() + " as there are target and source tokens", got.text(),
         "of an encoder with more or fewer keys than tokens there is no alignment");
}

}  // namespace detail

/// Links each target word to the source word that it attends to most, the first of equals: at most one link a
/// target word, and none where all its weights are 0.
/// Throws where attention does not fit the tokens, or the model does not attend.
inline Alignment argmax_alignment(const Translation& translation) {
  detail::require_aligned("argmax_alignment", translation);
  const std::size_t sources = detail::words_in(translation.source);
  std::vector<Link> out;
  for (std::size_t t = 0; t < detail::words_in(translation.target); ++t) {
    std::size_t best = sources;
    float most = 0;
    for (std::size_t s = 0; s < sources; ++s)
      if (translation.attention(t, s) > most) most = translation.attention(t, best = s);
    if (best < sources) out.push_back({best, t});
  }
  return Alignment(std::move(out));
}

/// Links all words with a weight of at least `threshold`, above 0 and up to 1: a word may have several links,
/// or none. Throws as `argmax_alignment`, and for a threshold out of range.
inline Alignment threshold_alignment(const Translation& translation, double threshold) {
  detail::require_aligned("threshold_alignment", translation);
  if (!(threshold > 0 && threshold <= 1))
    fail("threshold_alignment", "a threshold above 0 and up to 1", detail::number_text(threshold));
  std::vector<Link> out;
  for (std::size_t t = 0; t < detail::words_in(translation.target); ++t)
    for (std::size_t s = 0; s < detail::words_in(translation.source); ++s)
      if (static_cast<double>(translation.attention(t, s)) >= threshold) out.push_back({s, t});
  return Alignment(std::move(out));
}

}  // namespace bahdanau
