// The Stepper concept: what a search runs on, a model's session or that of several models together.
#pragma once

#include <concepts>
#include <cstddef>
#include <span>

#include <bahdanau/core/parallel.hpp>
#include <bahdanau/core/token.hpp>
#include <bahdanau/decode/continuation.hpp>
#include <bahdanau/model/batch.hpp>
#include <bahdanau/text/vocabularies.hpp>

namespace bahdanau {

/// Encoded sentences, and rows of hypotheses over them that move on together.
///
/// 1. `restart(sources, continuation, helpers)` encodes sentences; there is one row for each. There may be no
///    helpers (null).
/// 2. `step(parents, tokens, count)` makes rows that continue those of the step before (sentences, at first)
///    with `tokens[row]`, and gives the `count` best tokens to follow each; 0: ln p of all.
/// 3. `next(row)` are these tokens, best first, and none where ln p of all was asked for; `log_probs(row)` is
///    ln p of each, and `attention(row)` a weight for each of the sentence's `keys(sentence)`.
/// 4. `rows()` and `sentence(row)` tell of the last step. All is valid until the next one.
/// 5. After `fetch_heads(true)`, `head_attention(row)` has the weights of each of `heads` heads, in their
///    order; `fetches_heads()` says whether there are any.
/// 6. A row has the same bits whatever rows are beside it, where the models' backends give them so.
///
/// Models: `detail::DecodingSession`, `detail::EnsembleSession`.
template <class S>
concept Stepper = requires(S session, const S& made, const Sequences& sources, Workers* helpers,
                           std::span<const Index> parents, std::span<const Token> tokens, std::size_t n) {
  typename S::Scalar;
  session.restart(sources, Continuation::branching, helpers);
  session.step(parents, tokens, n);
  { made.rows() } -> std::same_as<std::size_t>;
  { made.sentence(n) } -> std::same_as<std::size_t>;
  { made.keys(n) } -> std::same_as<std::size_t>;
  { made.next(n) } -> std::same_as<std::span<const Index>>;
  { made.log_probs(n) } -> std::same_as<std::span<const typename S::Scalar>>;
  { made.attention(n) } -> std::same_as<std::span<const typename S::Scalar>>;
  session.fetch_heads(true);
  { made.fetches_heads() } -> std::same_as<bool>;
  { made.head_attention(n) } -> std::same_as<std::span<const typename S::Scalar>>;
  { S::heads } -> std::convertible_to<std::size_t>;
  { made.vocabularies() } -> std::same_as<const Vocabularies&>;
  { made.max_length() } -> std::same_as<std::size_t>;
};

}  // namespace bahdanau
