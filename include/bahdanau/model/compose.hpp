// Which policies fit together, and the sentence that a wrong combination prints when it is compiled.
// Each sentence names the fix; tests/compile_fail holds programs that must print them.
#pragma once

#include <concepts>
#include <cstdlib>

#include <bahdanau/cell/cell.hpp>
#include <bahdanau/model/encoder.hpp>
#include <bahdanau/score/score.hpp>

namespace bahdanau::detail {

/// Whether keys of this encoder can be as wide as the queries that the score meets them with.
template <class S, class E>
concept WidthsFit = !S::needs_equal_widths || E::directions == 1;

template <class C, class S, class B, class E>
concept Composes = CellOn<C, B> && ScoreOn<S, B> && EncoderOn<E, C, B> && WidthsFit<S, E>;

/// Prints one sentence for the first thing that does not fit.
template <class C, class S, class B, class E>
struct CheckedComposition {
  // A later sentence keeps silent where an earlier one has spoken.
  static constexpr bool backend = Backend<B>;
  static_assert(backend,
                "bahdanau: the third argument of EncoderDecoder is not a backend; use Xtensor<float>, "
                "Xtensor<double>, or a struct that models bahdanau::Backend (backend/backend.hpp)");
  static constexpr bool cell = !backend || DeclaresCell<C>;
  static_assert(
      cell,
      "bahdanau: the first argument of EncoderDecoder is not a cell; use Gru, Lstm, or a struct that "
      "models bahdanau::Cell (cell/cell.hpp)");
  static constexpr bool cell_step = !backend || !cell || CellOn<C, B>;
  static_assert(
      cell_step,
      "bahdanau: this cell has no step(weights, projected, state) that returns its CellState; write it "
      "as point 4 of bahdanau::Cell says (cell/cell.hpp)");
  static constexpr bool score = !backend || !cell || DeclaresScore<S>;
  static_assert(
      score,
      "bahdanau: the second argument of EncoderDecoder is not a score; use Additive, ScaledDot, or a "
      "struct that models bahdanau::Score (score/score.hpp)");
  static constexpr bool score_functions = !backend || !cell || !score || ScoreOn<S, B>;
  static_assert(
      score_functions,
      "bahdanau: this score lacks prepare(weights, keys) or scores(weights, query, prepared, spans); "
      "write them as points 3 and 4 of bahdanau::Score say (score/score.hpp)");
  static constexpr bool encoder = !backend || DeclaresEncoder<E>;
  static_assert(encoder,
                "bahdanau: the fourth argument of EncoderDecoder is not an encoder; use Unidirectional, "
                "Bidirectional, or a struct that models bahdanau::Encoder (model/encoder.hpp)");
  static consteval bool encodes() {
    if constexpr (CellOn<C, B> && DeclaresEncoder<E>) return EncoderOn<E, C, B>;
    return true;
  }
  static_assert(
      encodes(),
      "bahdanau: this encoder has no Network<Cell> made from (Scope, vocabulary, Config) with "
      "run(tape, input, encoding); write it as point 3 of bahdanau::Encoder says (model/encoder.hpp)");
  static consteval bool widths_fit() {
    if constexpr (DeclaresScore<S> && DeclaresEncoder<E>) return WidthsFit<S, E>;
    return true;
  }
  static_assert(
      widths_fit(),
      "bahdanau: this score (ScaledDot, say) needs keys as wide as queries, but a Bidirectional encoder "
      "makes keys twice as wide; use Additive, or a Unidirectional encoder");
};

/// For a state or an encoding of another kind of model.
template <class C, class B, class OtherC, class OtherB>
[[noreturn]] void refuse_foreign() {
  static_assert(
      std::same_as<B, OtherB>,
      "bahdanau: models of different backends do not mix; encode and decode with one model, and move "
      "weights between backends with save and load");
  static_assert(
      !std::same_as<B, OtherB> || std::same_as<C, OtherC>,
      "bahdanau: this state belongs to a model with another cell; encode and decode with one model");
  std::abort();
}

}  // namespace bahdanau::detail
