// A translation: what came out, how probable it is, and what was attended to for each word.
// Forced decoding, greedy and beam search all give this type.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <bahdanau/core/array.hpp>
#include <bahdanau/model/search_history.hpp>

namespace bahdanau {

/// A target sentence for a source sentence. Tokens are as the model saw them: unknown words are `<unk>`.
struct Translation {
  std::string text;                 // the target without `<eos>`, for people
  std::vector<std::string> source;  // tokens, with `<eos>`
  std::vector<std::string> target;  // tokens, with `<eos>` unless the length limit came first
  double score = 0;                 // Σ log_probs
  std::vector<double> log_probs;    // ln p of every target token
  Array<float, 2> attention;        // [target tokens, source tokens], or keys where the encoder makes more
                                    // or fewer of them; rows sum to 1, but for those of `Local`. Of a model
                                    // that does not attend, [target tokens, 0]
  Array<float, 3> heads;            // [heads, target tokens, keys]: of a score with several heads, of which
                                    // attention is the mean, each one's; from searches with `.heads`, and
                                    // from forced decoding. Else of size 0
  // Of each target token the most probable others, best first; from searches with `.runners_up`, else empty.
  std::vector<std::vector<RunnerUp>> runners_up = {};
  // Of the sentence's search, shared by its n best; from a beam with `.history`, else null.
  std::shared_ptr<const SearchHistory> history = {};
};

}  // namespace bahdanau
