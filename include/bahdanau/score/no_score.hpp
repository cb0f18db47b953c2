// The score of models that do not attend: it has no weights, and nothing ever asks it.
// It goes with decoders that say so (model/plain.hpp, model/fixed_context.hpp), and with them alone.
#pragma once

#include <concepts>
#include <string_view>

#include <bahdanau/score/score.hpp>

namespace bahdanau {

/// For decoders that do not attend: keys are not made, and a translation's attention is [target tokens, 0].
struct NoScore {
  static constexpr std::string_view name = "none";
  static constexpr bool needs_equal_widths = false;
  struct Weights {};
  static Weights declare(const Scope&, const ScoreWidths&) { return {}; }
};

namespace detail {

/// Whether a model with this score attends.
template <class S>
inline constexpr bool attending = !std::same_as<S, NoScore>;

/// Whether it is one that a model can have on a backend.
template <class S, class B>
concept ScoreOrNone = std::same_as<S, NoScore> || ScoreOn<S, B>;

}  // namespace detail
}  // namespace bahdanau
