// Luong's products: a(q, k) = q·k, and a(q, k) = qᵀ W k.
// `Dot` has no parameters and needs one width; `General` applies W to the keys, once per sentence.
#pragma once

#include <cstddef>
#include <string_view>

#include <bahdanau/score/score.hpp>

namespace bahdanau {

/// a(q, k) = q·k for queries and keys of one width.
struct Dot {
  static constexpr std::string_view name = "dot";
  static constexpr bool needs_equal_widths = true;
  struct Weights {};

  /// Throws where the widths differ.
  static Weights declare(Scope, ScoreWidths widths) {
    detail::require_equal_widths("Dot", widths, "General or Additive");
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
    return span_dot(query, keys, spans, typename B::Scalar(1));
  }
};

/// a(q, k) = qᵀ W k; the widths may differ.
struct General {
  static constexpr std::string_view name = "general";
  static constexpr bool needs_equal_widths = false;
  struct Weights {
    Parameter W;  // [query, key]
  };

  static Weights declare(Scope scope, ScoreWidths widths) {
    return {scope.matrix("W.weight", widths.query, widths.key)};
  }

  /// W k: keys [keys, key] to [keys, query].
  template <Backend B>
  static Variable<B> prepare(const Weights& w, const Variable<B>& keys) {
    return linear(keys, w.W);
  }

  /// query [queries, query], prepared [keys, query] to [pairs].
  template <Backend B>
  static Variable<B> scores(const Weights&, const Variable<B>& query, const Variable<B>& prepared,
                            const SpanView<B>& spans) {
    return span_dot(query, prepared, spans, typename B::Scalar(1));
  }
};

static_assert(Score<Dot> && Score<General>);

}  // namespace bahdanau
