// How a translation is searched for: greedily, with a beam, or by drawing; and what a request may cost at
// most. Plain settings, which `EncoderDecoder::translate` takes; decode/search.hpp does the work.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <bahdanau/core/error.hpp>
#include <bahdanau/core/thread_pool.hpp>

namespace bahdanau {

/// What one call of `translate` may cost; beyond it a `LimitError` is thrown, and nothing else happens. 0
/// means no limit.
struct Limits {
  std::size_t sentences = 0;      // of one call
  std::size_t source_tokens = 0;  // of a sentence, `<eos>` included; checked before any work
  std::size_t target_tokens = 0;  // of a translation that has not ended by then; `max_length` cuts instead
  std::size_t beam = 0;           // the width
  std::size_t memory = 0;         // bytes that decoding and its results need, estimated from above, before
                                  // any work; not what the model keeps for later calls
  std::chrono::steady_clock::time_point deadline =
      std::chrono::steady_clock::time_point::max();  // looked at between steps; max: none
};

/// A request was beyond one of its limits.
class LimitError : public Error {
 public:
  LimitError(const std::string& message, std::size_t sentence) : Error(message), sentence_(sentence) {}
  /// The number of the sentence among those of the call, from 0; 0 where it is about all of them.
  std::size_t sentence() const { return sentence_; }

 private:
  std::size_t sentence_;
};

/// A token that was just chosen, for who wants to see a translation grow.
struct StreamedToken {
  std::size_t sentence = 0;  // among those of the call
  std::string_view token;    // as it is spelled; valid during the call
  double log_prob = 0;
};

/// Takes the most probable token at every step.
struct Greedy {
  std::size_t max_length = 0;    // of a translation, `<eos>` included; 0: twice the source's length plus 10,
                                 // at least the model's own max_length, and never more than 1000
  bool replace_unknown = false;  // `<unk>` becomes the source word that it attends to most; an error where
                                 // the model does not attend
  std::size_t threads = 0;       // for many sentences; 0: one per core. The results do not depend on it
  Limits limits = {};
  ThreadPool* pool = nullptr;  // whose threads; null: the process's
  // Called with each token; `false` ends the translation there. Of several sentences at once only with one
  // thread, so that nobody has to think of two calls at a time.
  std::function<bool(const StreamedToken&)> on_token = {};
  bool heads = false;  // `Translation::heads` too, of scores with several heads
  // What a translation must and must not be; see docs/decoding.md. Words are text, cut into tokens as the
  // target is, so that one may be a phrase; a word that the model does not know is an error.
  std::size_t min_length = 0;               // tokens, `<eos>` included: it is not chosen before
  std::vector<std::string> forbidden = {};  // words and phrases that no translation has; `<unk>` is one too
  std::string prefix = {};                  // that every translation begins with
  std::size_t runners_up = 0;  // of each token, so many others that might have come; at most 1000
};

/// Draws each token by its probability. The draws follow from the seed, the number of the sentence in its
/// call, and the step: not from threads, or from what is decoded beside it.
struct Sample {
  double temperature = 1;  // logits are divided by it: below 1 for likelier translations
  std::size_t top = 0;     // draws among so many of the most probable tokens; 0: all
  std::uint64_t seed = 0;
  std::size_t max_length = 0;  // as for `Greedy`
  bool replace_unknown = false;
  std::size_t threads = 0;
  Limits limits = {};
  ThreadPool* pool = nullptr;
  bool heads = false;
  double top_p = 1;  // above 0: draws among the fewest most probable tokens that have so much of the
                     // probability together, after `temperature` and `top`; 1: all
  std::size_t min_length = 0;  // as for `Greedy`, and so the next two
  std::vector<std::string> forbidden = {};
  std::string prefix = {};
};

/// Keeps the `width` best hypotheses at every step.
struct Beam {
  std::size_t width = 5;       // at most 65536
  std::size_t nbest = 1;       // how many translations of a sentence are given
  double length_power = 0.75;  // hypotheses are ranked by score / length^power; see `length_offset`
  std::size_t max_length = 0;  // as for `Greedy`
  bool replace_unknown = false;
  std::size_t threads = 0;
  Limits limits = {};
  ThreadPool* pool = nullptr;
  bool heads = false;
  double coverage_penalty = 0;  // β of GNMT: the rank has β Σ_i ln min(Σ_t α_ti, 1) added, of all keys i
  double length_offset = 0;     // k: the rank is score / ((k + length) / (k + 1))^power; GNMT has 5
  std::size_t min_length = 0;   // as for `Greedy`, and so the next two
  std::vector<std::string> forbidden = {};
  std::string prefix = {};
  std::vector<std::string> required = {};  // words and phrases that every translation has; at most 64
  std::size_t runners_up = 0;              // as for `Greedy`
  bool history = false;                    // `Translation::history` too: which hypotheses there were
};

}  // namespace bahdanau
