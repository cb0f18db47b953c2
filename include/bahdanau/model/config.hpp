// The sizes and choices of a model that are not policies.
// A model file keeps them; see io/model_file.hpp.
#pragma once

#include <cstddef>
#include <string_view>

#include <bahdanau/core/error.hpp>
#include <bahdanau/core/quote.hpp>

namespace bahdanau {

/// Where the encoder stops: after each sentence's last valid token, or, as d2l's code does, after stepping
/// over `<pad>` up to `max_length`.
enum class FinalState { valid, padded };

inline std::string_view name(FinalState rule) { return rule == FinalState::valid ? "valid" : "padded"; }

inline FinalState final_state_from_name(std::string_view text) {
  if (text == "valid") return FinalState::valid;
  if (text == "padded") return FinalState::padded;
  fail("final_state", "\"valid\" or \"padded\"", detail::quote(text));
}

/// What the decoder starts from behind a bidirectional encoder: both directions' last states, the backward
/// one's, or the mean of the sentence's values. Behind a convolutional one it is always the mean.
enum class Bridge { both, backward, mean };

inline std::string_view name(Bridge bridge) {
  constexpr std::string_view names[] = {"both", "backward", "mean"};
  return names[static_cast<std::size_t>(bridge)];
}

inline Bridge bridge_from_name(std::string_view text) {
  for (const Bridge bridge : {Bridge::both, Bridge::backward, Bridge::mean})
    if (text == name(bridge)) return bridge;
  fail("bridge", "\"both\", \"backward\" or \"mean\"", detail::quote(text));
}

/// How often dropout draws a mask: anew for each position of a sentence, or, after Gal and Ghahramani (2016),
/// one for all positions of a sentence.
enum class DropoutMasks { per_position, per_sequence };

inline std::string_view name(DropoutMasks masks) {
  return masks == DropoutMasks::per_position ? "per_position" : "per_sequence";
}

inline DropoutMasks dropout_masks_from_name(std::string_view text) {
  for (const DropoutMasks masks : {DropoutMasks::per_position, DropoutMasks::per_sequence})
    if (text == name(masks)) return masks;
  fail("dropout_masks", "\"per_position\" or \"per_sequence\"", detail::quote(text));
}

namespace detail {

/// Throws where the rule steps over `<pad>` up to a `max_length`, and there is none.
inline void require_row_width(std::string_view where, FinalState rule, std::size_t max_length) {
  if (rule != FinalState::padded || max_length != 0) return;
  fail(where, "a max_length for final_state 'padded', which steps over <pad> up to it", "none",
       "give the corpus a max_length, or use final_state 'valid'");
}

}  // namespace detail

/// The sizes of an `EncoderDecoder`.
struct Config {
  std::size_t embed = 32;   // width of both embeddings
  std::size_t hidden = 32;  // width of the cells' states, and of the space where an additive score compares
  std::size_t layers = 2;   // cells on top of one another, in encoder and decoder alike
  float dropout = 0;        // between layers and on attention weights, while training
  FinalState final_state = FinalState::valid;
  Bridge bridge = Bridge::both;  // for encoders of two directions
  bool tied = false;             // whether the output layer's weight is the target embedding
  bool residual = false;         // whether layers from the second on add their input to their output
  DropoutMasks dropout_masks = DropoutMasks::per_position;  // of all but attention weights
  float embedding_dropout = 0;  // on the embedded tokens of source and target, while training

  static constexpr std::size_t largest = std::size_t{1} << 24U;  // of each size

  bool operator==(const Config&) const = default;

  /// Throws where a size is 0 or a dropout is no probability below 1.
  void check() const {
    const auto positive = [](std::string_view what, std::size_t value) {
      if (value == 0) fail("Config." + std::string(what), "at least 1", "0");
      if (value > largest)  // so that products of two sizes do not overflow
        fail("Config." + std::string(what), "at most " + detail::text(largest), detail::text(value));
    };
    positive("embed", embed);
    positive("hidden", hidden);
    positive("layers", layers);
    const auto probability = [](std::string_view what, float value) {
      if (!(value >= 0 && value < 1))
        fail(what, "a probability from 0 up to, not including, 1", detail::number_text(value));
    };
    probability("Config.dropout", dropout);
    probability("Config.embedding_dropout", embedding_dropout);
  }
};

}  // namespace bahdanau
