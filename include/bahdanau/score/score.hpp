// The Score concept: how a query meets the keys.
// To add a score, write one struct as score/scaled_dot.hpp does; keys come without padding, so no mask is
// needed.
#pragma once

#include <concepts>
#include <cstddef>
#include <string_view>

#include <bahdanau/autograd/ops.hpp>
#include <bahdanau/backend/any_backend.hpp>
#include <bahdanau/nn/parameter.hpp>

namespace bahdanau {

/// How wide the things are that a score compares.
struct ScoreWidths {
  std::size_t query = 0, key = 0;
  std::size_t hidden = 0;  // the width of the space in which they meet, where the score has one
};

namespace detail {

/// Points 1 and 2 of the contract below.
template <class S>
concept DeclaresScore = requires(Scope scope, ScoreWidths widths) {
  { S::name } -> std::convertible_to<std::string_view>;
  { S::needs_equal_widths } -> std::convertible_to<bool>;
  { S::declare(scope, widths) } -> std::same_as<typename S::Weights>;
};

}  // namespace detail

/// How a query meets the keys. Models: `Additive`, `ScaledDot`.
///
/// 1. `name` is what a model file calls it; `needs_equal_widths` says that queries and keys must be equally
/// wide.
/// 2. `Weights` and `declare(scope, widths)` are its parameters.
/// 3. `prepare(weights, keys)` takes keys [keys, key] to whatever depends on them alone [keys, any]: it is
///    called once for a source sentence, never once a step.
/// 4. `scores(weights, query, prepared, spans)` takes queries [queries, query] to one score a pair [pairs].
template <class S>
concept Score = detail::DeclaresScore<S> &&
    requires(const typename S::Weights& weights, const Variable<AnyBackend>& query,
             const Variable<AnyBackend>& keys, const SpanView<AnyBackend>& spans) {
  { S::prepare(weights, keys) } -> std::same_as<Variable<AnyBackend>>;
  { S::scores(weights, query, keys, spans) } -> std::same_as<Variable<AnyBackend>>;
};

/// The same with points 3 and 4 on one backend, for a score that has them there alone.
template <class S, class B>
concept ScoreOn = detail::DeclaresScore<S> && Backend<B> &&
    requires(const typename S::Weights& weights, const Variable<B>& array, const SpanView<B>& spans) {
  { S::prepare(weights, array) } -> std::same_as<Variable<B>>;
  { S::scores(weights, array, array, spans) } -> std::same_as<Variable<B>>;
};

}  // namespace bahdanau
