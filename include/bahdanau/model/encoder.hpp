// The Encoder concept: source sentences to keys, values and the decoder's first state.
// To add an encoder, write one struct as model/recurrent_encoder.hpp does; docs/policies.md has one that is
// short.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <string_view>
#include <type_traits>

#include <bahdanau/backend/any_backend.hpp>
#include <bahdanau/model/encoding.hpp>

namespace bahdanau {

namespace detail {

/// A cell that is declared and nowhere defined: see AnyBackend.
struct AnyCell {
  static constexpr std::string_view name = "any";
  static constexpr std::size_t parts = 1;
  static constexpr std::array<std::string_view, parts> part_names{"h"};
  using Weights = RecurrentWeights;
  static Weights declare(Scope scope, std::size_t inputs, std::size_t hidden);
  template <Backend B>
  static CellState<AnyCell, B> step(const Weights& weights, const Variable<B>& projected,
                                    const CellState<AnyCell, B>& state);
};
static_assert(Cell<AnyCell>);

/// Points 1 and 2 of the contract below.
template <class E>
concept DeclaresEncoder = requires {
  { E::name } -> std::convertible_to<std::string_view>;
}
&&(
    requires {
      { E::directions } -> std::convertible_to<std::size_t>;
    } ||
    requires(const Config& config) {
      { E::key_width(config) } -> std::convertible_to<std::size_t>;
    });

/// How wide keys, and values, are.
template <DeclaresEncoder E>
std::size_t key_width(const Config& config) {
  if constexpr (requires { E::key_width(config); })
    return E::key_width(config);
  else
    return E::directions * config.hidden;
}
template <DeclaresEncoder E>
std::size_t value_width(const Config& config) {
  if constexpr (requires { E::value_width(config); })
    return E::value_width(config);
  else
    return key_width<E>(config);
}

}  // namespace detail

/// How source sentences become keys, values and the decoder's first state. Models: `Unidirectional`,
/// `Bidirectional`, `Convolutional`.
///
/// 1. `name` is what a model file calls it; sizes of its own are part of its type and of this name.
/// 2. Keys are `key_width(config)` wide, and values `value_width(config)`, without which they are as keys.
///    `directions` in place of both says that they are `directions · hidden`, known when the model is
///    compiled.
/// 3. `Network<Cell>` is constructed from (root scope, vocabulary, config), where it declares its parameters.
/// 4. Its `run(tape, input, encoding)` fills an `Encoding`: `outputs` are the keys, `values` what contexts
///    are sums of where they are not the keys, `begin` and `length` the rows of each sentence; `last` is the
///    first state of each of the decoder's layers, with its rows in the order of `packing`. There may be more
///    or fewer keys than tokens, but each sentence has at least one. Tokens are read with
///    `input.sentences.at(row, step)`, which knows of sources that are read from their ends;
///    `Config::residual` and the masks of `input.dropout` are the encoder's to heed. Where `input.keys` is
///    false, nobody attends, and the keys need not be made.
template <class E>
concept Encoder = detail::DeclaresEncoder<E> &&
    requires(const typename E::template Network<detail::AnyCell>& network, Tape<AnyBackend>& tape,
             const EncoderInput& input, Encoding<detail::AnyCell, AnyBackend>& encoding) {
  requires std::constructible_from<std::remove_cvref_t<decltype(network)>, Scope, std::size_t, Config>;
  network.run(tape, input, encoding);
};

/// The same with points 3 and 4 for one cell and one backend.
template <class E, class C, class B>
concept EncoderOn = detail::DeclaresEncoder<E> && Backend<B> &&
    requires(const typename E::template Network<C>& network, Tape<B>& tape, const EncoderInput& input,
             Encoding<C, B>& encoding) {
  requires std::constructible_from<std::remove_cvref_t<decltype(network)>, Scope, std::size_t, Config>;
  network.run(tape, input, encoding);
};

}  // namespace bahdanau
