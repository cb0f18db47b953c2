// The scaled dot product: a(q, k) = q·k / √d.
// It has no parameters, and needs queries and keys of one width d.
#pragma once

#include <cmath>
#include <cstddef>
#include <string_view>

#include <bahdanau/score/score.hpp>

namespace bahdanau {

/// a(q, k) = q·k / √d for queries and keys of width d.
struct ScaledDot {
  static constexpr std::string_view name = "scaled_dot";
  static constexpr bool needs_equal_widths = true;
  struct Weights {};

  /// Throws where the widths differ.
  static Weights declare(Scope, ScoreWidths widths) {
    detail::require_equal_widths("ScaledDot", widths, "General or Additive");
    return {};
  }

  /// The keys [keys, d] as they are: there is nothing to prepare.
  template <Backend B>
  static Variable<B> prepare(const Weights&, const Variable<B>& keys) {
    return keys;
  }

  /// query [queries, d], keys [keys, d] to [pairs].
  template <Backend B>
  static Variable<B> scores(const Weights&, const Variable<B>& query, const Variable<B>& keys,
                            const SpanView<B>& spans) {
    using T = typename B::Scalar;
    return span_dot(query, keys, spans, T(1) / std::sqrt(static_cast<T>(query.cols())));
  }
};

static_assert(Score<ScaledDot>);

}  // namespace bahdanau
