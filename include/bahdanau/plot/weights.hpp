// Attention weights as pictures take them: checked against their labels, and turned into a colour.
// The colours run from nearly white to dark blue; every channel falls, so more weight is always darker.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <bahdanau/core/digits.hpp>
#include <bahdanau/core/error.hpp>
#include <bahdanau/core/shape.hpp>
#include <bahdanau/model/translation.hpp>
#include <bahdanau/plot/label.hpp>

namespace bahdanau::detail {

/// What stands above the columns: the source's tokens, or numbers from 1 on where an encoder has made more or
/// fewer keys than there are tokens.
inline std::vector<std::string> column_labels(const Translation& translation) {
  const std::size_t keys = translation.attention.shape()[1];
  if (keys == translation.source.size()) return translation.source;
  std::vector<std::string> out;
  for (std::size_t i = 1; i <= keys; ++i) out.push_back(text(i));
  return out;
}

/// Throws unless attention is [target, keys] with a row for each target token, not empty, as that of a model
/// without attention is, with weights from 0 to 1.
inline void require_attention(std::string_view where, const Translation& translation) {
  const auto& attention = translation.attention;
  const Shape got{attention.shape()[0], attention.shape()[1]};
  const std::size_t targets = translation.target.size();
  const std::size_t sources = translation.source.size();
  if (targets == 0 || sources == 0) {
    fail(where, "at least one target and one source token", text(targets) + " and " + text(sources));
  }
  if (got[0] == targets && got[1] == 0)
    fail(where, "attention to draw", "none", "the translation is of a model that does not attend");
  if (got[0] != targets) {
    const Shape expected{targets, sources};
    fail(where, "attention " + expected.text() + " as there are target and source tokens", got.text());
  }
  constexpr float rounding = 1e-3F;
  for (std::size_t i = 0; i < attention.size(); ++i) {
    const float weight = attention.data()[i];
    if (weight >= -rounding && weight <= 1 + rounding) continue;  // false for NaN
    fail(where, "weights from 0 to 1", exact_digits(weight) + " at " + Shape{i / got[1], i % got[1]}.text(),
         "attention weights are a softmax over the source");
  }
}

struct Colour {
  unsigned red = 0;
  unsigned green = 0;
  unsigned blue = 0;

  friend bool operator==(const Colour&, const Colour&) = default;

  /// As in SVG: `#08306b`.
  std::string hex() const {
    return std::string("#").append(hex_byte(red)).append(hex_byte(green)).append(hex_byte(blue));
  }
};

/// The colours at the weights 0, 1/4, 1/2, 3/4 and 1.
inline constexpr std::array<Colour, 5> weight_anchors = {
    {{0xF7, 0xFB, 0xFF}, {0xC6, 0xDB, 0xEF}, {0x6B, 0xAE, 0xD6}, {0x21, 0x71, 0xB5}, {0x08, 0x30, 0x6B}}};

/// The colour of a weight, straight lines between the anchors.
inline Colour weight_colour(double weight) {
  constexpr std::size_t pieces = weight_anchors.size() - 1;
  const double place = std::clamp(weight, 0.0, 1.0) * static_cast<double>(pieces);
  const auto piece = std::min(static_cast<std::size_t>(place), pieces - 1);
  const double part = place - static_cast<double>(piece);
  const Colour& a = weight_anchors[piece];
  const Colour& b = weight_anchors[piece + 1];
  auto mix = [part](unsigned from, unsigned to) {
    return static_cast<unsigned>(std::lround((1 - part) * from + part * to));
  };
  return {mix(a.red, b.red), mix(a.green, b.green), mix(a.blue, b.blue)};
}

/// Whether white text reads better than black on a weight's colour.
inline bool dark(double weight) { return weight > 0.5; }

}  // namespace bahdanau::detail
