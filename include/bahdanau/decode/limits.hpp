// The limits of a request: how each is checked, and how much memory decoding a sentence needs at most.
// The estimate is made from a model's parameters alone, so that it is there before any work.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>

#include <bahdanau/core/error.hpp>
#include <bahdanau/decode/constraints.hpp>
#include <bahdanau/decode/options.hpp>
#include <bahdanau/model/config.hpp>
#include <bahdanau/nn/parameter.hpp>
#include <bahdanau/score/score.hpp>

namespace bahdanau::detail {

[[noreturn]] inline void fail_limit(std::size_t sentence, std::string_view expected, std::string_view got,
                                    std::string_view limit) {
  throw LimitError("translate, sentence " + text(sentence) + ": expected " + std::string(expected) +
                       ", got " + std::string(got) + "; see Limits." + std::string(limit),
                   sentence);
}

/// Throws if the deadline has passed.
inline void check_deadline(const Limits& limits, std::size_t sentence) {
  using Clock = std::chrono::steady_clock;
  if (limits.deadline == Clock::time_point::max()) return;
  const Clock::time_point now = Clock::now();
  if (now < limits.deadline) return;
  // As doubles: a deadline may be any time in the past.
  using Milliseconds = std::chrono::duration<double, std::milli>;
  const double late =
      Milliseconds(now.time_since_epoch()).count() - Milliseconds(limits.deadline.time_since_epoch()).count();
  fail_limit(sentence, "an end before the deadline", number_text(std::ceil(late)) + " ms more", "deadline");
}

/// Throws if a source has more tokens, with its `<eos>`, than it may have.
inline void check_source(const Limits& limits, std::size_t tokens, std::size_t sentence) {
  if (limits.source_tokens != 0 && tokens > limits.source_tokens)
    fail_limit(sentence, "a source of at most " + text(limits.source_tokens) + " tokens with its <eos>",
               text(tokens), "source_tokens");
}

inline std::size_t beam_width(const Greedy&) { return 1; }
inline std::size_t beam_width(const Sample&) { return 1; }
inline std::size_t beam_width(const Beam& beam) { return beam.width; }
inline std::size_t found_of(const Greedy&) { return 1; }
inline std::size_t found_of(const Sample&) { return 1; }
inline std::size_t found_of(const Beam& beam) { return beam.nbest; }

/// Throws if there are more sentences in a call than there may be.
inline void check_sentences(const Limits& limits, std::size_t sentences) {
  if (limits.sentences != 0 && sentences > limits.sentences)
    fail_limit(limits.sentences, "at most " + text(limits.sentences) + " sentences in a call",
               text(sentences), "sentences");
}

/// Throws if the beam is wider than it may be.
template <class Options>
void check_beam(const Options& options) {
  if (options.limits.beam != 0 && beam_width(options) > options.limits.beam)
    fail_limit(0, "a beam of at most " + text(options.limits.beam), text(beam_width(options)), "beam");
}

/// How long a translation may get. Neither a source of thousands of tokens nor a file's `max_length` must
/// make a model that never ends write for minutes.
inline std::size_t length_limit(std::size_t asked, std::size_t source, std::size_t model) {
  constexpr std::size_t longest = 1000;
  return asked != 0 ? asked : std::min(std::max(model, 2 * source + 10), longest);
}

/// The same for the options of a search: without a length, the `shortest` that has all it must has room.
template <class Options>
std::size_t asked_length(const Options& options, std::size_t source, std::size_t model,
                         std::size_t shortest) {
  const std::size_t length = length_limit(options.max_length, source, model);
  return options.max_length != 0 ? length : std::max(length, shortest);
}

/// The same, within the limits.
template <class Options>
std::size_t target_limit(const Options& options, std::size_t source, std::size_t model,
                         std::size_t shortest = 0) {
  const std::size_t length = asked_length(options, source, model, shortest);
  const std::size_t most = options.limits.target_tokens;
  return most == 0 ? length : std::min(length, most);
}

/// What a model's parameters say of the memory that it needs; of several models, what they need together.
struct DecodingSizes {
  double encoder = 0, decoder = 0;  // bytes of the outputs of all weights
  double scalar = 0;                // bytes of a number
  double pairs = 0;                 // bytes of the arrays [pairs] that are on a tape at once, for each pair
  double heads = 1;                 // of the score; 1 for several models
  double models = 1;
  bool attends = true;
  std::size_t max_length = 0;  // of the rows that it was trained on
  std::size_t padded = 0;      // steps that the encoder takes over every sentence, however short

  template <class Model>
  static DecodingSizes of(const Model& model) {
    DecodingSizes sizes{.scalar = sizeof(typename Model::Scalar),
                        .heads = static_cast<double>(heads_of<typename Model::Score>()),
                        .attends = Model::attends,
                        .max_length = model.max_length()};
    sizes.pairs = 8 * (sizes.heads + (has_pair_state<Model> ? 1 : 0)) * sizes.scalar;
    if (model.config().final_state == FinalState::padded) sizes.padded = model.max_length();
    for (const auto& entry : model.parameters().entries()) {
      const Shape& shape = entry.parameter.shape;
      if (shape.rank() == 3)  // of a convolution: its outputs, and the windows that it reads
        sizes.encoder += static_cast<double>(shape[0] + shape[1] * shape[2]) * sizes.scalar;
      if (shape.rank() != 2) continue;
      const auto names = [&](const char* what) { return entry.name.find(what) != std::string::npos; };
      const bool table = names("embedding") || names("position");
      (entry.name.starts_with("encoder.") ? sizes.encoder : sizes.decoder) +=
          static_cast<double>(table ? shape[1] : shape[0]) * sizes.scalar;
      if (names("attention"))  // of which each token has a key
        sizes.encoder += static_cast<double>(shape[0] + shape[1]) * sizes.scalar;
    }
    if (model.config().tied)  // the embedding is the output layer's weight too
      sizes.decoder += static_cast<double>(model.vocabularies().target.size()) * sizes.scalar;
    return sizes;
  }
  DecodingSizes& operator+=(const DecodingSizes& other) {
    encoder += other.encoder;
    decoder += other.decoder;
    scalar += other.scalar;
    pairs += other.pairs;
    heads = 1;
    attends = attends || other.attends;
    models += other.models;
    max_length = std::max(max_length, other.max_length);
    padded = std::max(padded, other.padded);
    return *this;
  }

 private:
  template <class Model>
  static constexpr bool has_pair_state =
      requires(ScoreState<typename Model::Score, typename Model::Backend>& state) {
    state.each_pair(AnyVisitor{});
  };
};

/// Bytes that decoding takes at most, for the library's own policies.
///
/// A row of numbers that goes through a weight [outputs, inputs] leaves a few arrays of `outputs` numbers on
/// its tape. Encoding does that for every token and keeps them; of the decoder's steps the last two are kept.
/// The attention of every step is kept until the translation is read, and then stands in it.
template <class Options>
class MemoryEstimate {
 public:
  template <class Model>
  MemoryEstimate(const Model& model, const Options& options)
      : MemoryEstimate(DecodingSizes::of(model), options) {}
  MemoryEstimate(const DecodingSizes& sizes, const Options& options, const Constraints& constraints = {})
      : options_(options),
        sizes_(sizes),
        shortest_(constraints.shortest()),
        required_(constraints.required()) {}

  /// The translations of a source of so many tokens and bytes, and the words that are handed over with them.
  /// Where unknown words are replaced, each may be the longest one of the source, in words and in the text.
  double results(std::size_t tokens, std::size_t bytes) const {
    const double source = static_cast<double>(tokens), target = steps(tokens);
    const double replaced = options_.replace_unknown ? 3 * target * static_cast<double>(bytes) : 0;
    return static_cast<double>(found_of(options_)) *
               (target * (per_word + kept() * source * sizeof(float) + runners_up() * per_runner_up) +
                source * per_word + replaced + 512) +
           target * looked_at() * per_hypothesis;
  }

  /// What decoding it needs besides.
  double work(std::size_t tokens, std::size_t bytes) const {
    const std::size_t rows = beam_width(options_);
    const double attention =
        steps(tokens) *
        (static_cast<double>(rows) * (kept() * read(tokens) * sizes_.scalar + 64 + runners_up() * 2 * 32) +
         looked_at() * per_hypothesis);
    return encoding(tokens) + step(rows, tokens) + attention + 4 * static_cast<double>(bytes) +
           ranking(rows, tokens);
  }
  /// Of that, what is encoded,
  double encoding(std::size_t tokens) const {
    return read(tokens) * (arrays * sizes_.encoder + per_word * sizes_.models);
  }
  /// and a step of so many rows.
  double step(std::size_t rows, std::size_t tokens) const {
    return static_cast<double>(rows) * (2 * arrays * sizes_.decoder + sizes_.pairs * read(tokens));
  }

  /// What any call needs, however short its sentences.
  static constexpr double base = 1 << 20;

 private:
  static constexpr double arrays = 4;      // of a weight's outputs that are on a tape at once
  static constexpr double per_word = 192;  // bytes: three strings, ln p and an id
  static constexpr double per_runner_up = 96, per_hypothesis = 192;  // a string, and where it stands

  /// How many numbers are kept for each pair of a target token and a key.
  double kept() const {
    return !sizes_.attends ? 0 : options_.heads && sizes_.heads > 1 ? 1 + sizes_.heads : 1;
  }
  /// How many tokens are kept beside each that is chosen, with room for the lists.
  double runners_up() const {
    if constexpr (requires { options_.runners_up; })
      return options_.runners_up == 0 ? 0 : static_cast<double>(options_.runners_up) + 2;
    return 0;
  }
  /// How many hypotheses of a step a history keeps.
  double looked_at() const {
    if constexpr (requires { options_.history; })
      if (options_.history)
        return 2 * static_cast<double>(beam_width(options_)) * static_cast<double>(required_ + 1);
    return 0;
  }
  double read(std::size_t tokens) const { return static_cast<double>(std::max(tokens, sizes_.padded)); }
  double steps(std::size_t tokens) const {
    return static_cast<double>(target_limit(options_, tokens, sizes_.max_length, shortest_));
  }
  /// Sums of attention, before and after a step, and candidates of each bank.
  double ranking(std::size_t rows, std::size_t tokens) const {
    double each = 0;
    if constexpr (requires { options_.coverage_penalty; })
      if (options_.coverage_penalty != 0) each += 4 * sizeof(double) * read(tokens);
    if (required_ != 0) each += 256 * static_cast<double>(required_ + 1);
    return each * static_cast<double>(rows);
  }

  Options options_;
  DecodingSizes sizes_;
  std::size_t shortest_, required_;  // tokens that must be there
};

}  // namespace bahdanau::detail
