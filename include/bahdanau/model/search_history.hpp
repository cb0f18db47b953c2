// What a search saw on its way to a translation: the tokens that might have come, and the hypotheses that it
// gave up. Only where it was asked for; docs/decoding.md.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace bahdanau {

/// A token that might have come in the place of another.
struct RunnerUp {
  std::string token;
  double log_prob = 0;
};

/// What became of a hypothesis at the end of its step.
enum class Fate {
  kept,     // it went on
  ended,    // it is a whole translation: with `<eos>`, or cut by the length limit
  dropped,  // others of its step were better
  pruned    // among the best of its step, but a translation that has ended is better than it can become
};

/// A hypothesis of a step: one of the step before, and a token more.
struct Hypothesis {
  std::size_t parent = 0;  // its place in the step before; of the first step, 0
  std::string token;
  double log_prob = 0;  // of that token
  double score = 0;     // Σ ln p of all its tokens
  Fate fate = Fate::kept;
  double rank = std::numeric_limits<double>::quiet_NaN();  // what it was ranked by, where it has ended
  std::size_t place = 0;  // among the translations that were found, from 1; 0: it is none of them
};

/// The hypotheses that a beam has looked at: of each step the best ones, twice its width and the best first,
/// or fewer where there are no more. A hypothesis that is `kept` has children in the next step.
struct SearchHistory {
  std::vector<std::vector<Hypothesis>> steps;
  std::size_t width = 0;  // of the beam; 0: it is not known
};

}  // namespace bahdanau
