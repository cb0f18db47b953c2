// How a translation is searched for: greedily, or with a beam.
// Plain settings, which `EncoderDecoder::translate` takes; decode/search.hpp does the work.
#pragma once

#include <cstddef>

namespace bahdanau {

/// Takes the most probable token at every step.
struct Greedy {
  std::size_t max_length = 0;    // of a translation, `<eos>` included; 0: twice the source's length plus 10,
                                 // but at most 1000, and at least the model's own max_length
  bool replace_unknown = false;  // `<unk>` becomes the source word that it attends to most
  std::size_t threads = 0;       // for many sentences; 0: one a core. The results do not depend on it
};

/// Keeps the `width` best hypotheses at every step.
struct Beam {
  std::size_t width = 5;
  std::size_t nbest = 1;       // how many translations of a sentence are given
  double length_power = 0.75;  // hypotheses are ranked by score / length^power
  std::size_t max_length = 0;  // as for `Greedy`
  bool replace_unknown = false;
  std::size_t threads = 0;
};

}  // namespace bahdanau
