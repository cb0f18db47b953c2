// Which policies fit together, and the sentence that a wrong combination prints when it is compiled.
// Each sentence names the fix; tests/compile_fail holds programs that must print them.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdlib>
#include <type_traits>

#include <bahdanau/cell/cell.hpp>
#include <bahdanau/model/attend_then_step.hpp>
#include <bahdanau/model/decoder.hpp>
#include <bahdanau/model/encoder.hpp>
#include <bahdanau/model/readout.hpp>
#include <bahdanau/model/recurrent_encoder.hpp>
#include <bahdanau/score/no_score.hpp>

namespace bahdanau::detail {

/// What a policy is that follows cell, score and backend.
enum class Kind { unknown, encoder, decoder, readout };
template <class P>
inline constexpr Kind kind_of = DeclaresEncoder<P>   ? Kind::encoder
                                : DeclaresDecoder<P> ? Kind::decoder
                                : DeclaresReadout<P> ? Kind::readout
                                                     : Kind::unknown;

template <Kind Wanted, class... Others>
inline constexpr std::size_t count_of = (std::size_t{kind_of<Others> == Wanted} + ... + std::size_t{0});

/// The first policy of a kind, or the default.
template <Kind Wanted, class Default, class... Others>
struct Choose {
  using type = Default;
};
template <Kind Wanted, class Default, class First, class... Rest>
struct Choose<Wanted, Default, First, Rest...> {
  using type =
      std::conditional_t<kind_of<First> == Wanted, First, typename Choose<Wanted, Default, Rest...>::type>;
};
template <class... Others>
using EncoderOf = typename Choose<Kind::encoder, Unidirectional, Others...>::type;
template <class... Others>
using DecoderOf = typename Choose<Kind::decoder, AttendThenStep, Others...>::type;
template <class... Others>
using ReadoutOf = typename Choose<Kind::readout, LinearReadout, Others...>::type;

/// Whether each of the others is known, and of a kind of its own.
template <class... Others>
concept OneOfEach = count_of<Kind::unknown, Others...>
== 0 && count_of<Kind::encoder, Others...> <= 1 && count_of<Kind::decoder, Others...> <= 1 &&
    count_of<Kind::readout, Others...> <= 1;

/// Whether keys of this encoder can be as wide as the queries that the score meets them with. Where it says
/// so only when the model is made, the score's `declare` throws.
template <class S, class E>
concept WidthsFit = !S::needs_equal_widths || !requires {
  E::directions;
}
|| requires { requires E::directions == 1; };

/// Whether a decoder that attends has a score, and one that does not has none.
template <class S, class D>
concept ScoreFits = (decoder_attends<D>() == attending<S>);

/// Whether the decoder has what the readout reads.
template <class D, class R>
concept ReadoutFits = !R::reads.before || D::attends_before_step;

/// Whether the cell can be stepped as often as the decoder does.
template <class D, class C>
concept CellFits = !(
    requires { requires D::steps_twice; } && requires { requires C::one_step_per_token; });

/// Whether it gives the readout a context, if that cannot do without.
template <class C, class D, class R>
concept ContextFits = !R::reads.context || gives_context<D, C>() || requires {
  requires R::context_optional;
};

template <class C, class S, class B, class E, class D, class R>
concept PoliciesFit =
    CellOn<C, B> && ScoreOrNone<S, B> && EncoderOn<E, C, B> && WidthsFit<S, E> && CellFits<D, C> &&
    ScoreFits<S, D> && DecoderOn<D, C, S, B> && ReadoutOn<R, B> && ReadoutFits<D, R> && ContextFits<C, D, R>;

template <class C, class S, class B, class... Others>
concept Composes = OneOfEach<Others...> &&
    PoliciesFit<C, S, B, EncoderOf<Others...>, DecoderOf<Others...>, ReadoutOf<Others...>>;

/// Prints one sentence for the first thing that does not fit.
template <class C, class S, class B, class... Others>
struct CheckedComposition {
  using E = EncoderOf<Others...>;
  using D = DecoderOf<Others...>;
  using R = ReadoutOf<Others...>;
  // A later sentence keeps silent where an earlier one has spoken.
  static constexpr bool backend = Backend<B>;
  static_assert(backend,
                "bahdanau: the third argument of EncoderDecoder is not a backend; use Xtensor<float>, "
                "Xtensor<double>, or a struct that models bahdanau::Backend (backend/backend.hpp)");
  static constexpr bool cell = !backend || DeclaresCell<C>;
  static_assert(
      cell,
      "bahdanau: the first argument of EncoderDecoder is not a cell; use Gru, GruResetBefore, Lstm, Rnn, "
      "LayerNorm<Gru>, or a struct X of your own: static_assert(bahdanau::Cell<X>) shows what it lacks, "
      "docs/own_model.md has one");
  static constexpr bool cell_step = !backend || !cell || CellOn<C, B>;
  static_assert(
      cell_step,
      "bahdanau: this cell has no step(weights, projected, state) that returns its CellState; write it "
      "as point 4 of bahdanau::Cell says (cell/cell.hpp)");
  static constexpr bool score = !backend || !cell || DeclaresScore<S>;
  static_assert(
      score,
      "bahdanau: the second argument of EncoderDecoder is not a score; use Additive, ScaledDot, Dot, "
      "General, or a struct X of your own: static_assert(bahdanau::Score<X>) shows what it lacks, "
      "docs/own_model.md has one");
  static constexpr bool score_functions = !backend || !cell || !score || ScoreOrNone<S, B>;
  static_assert(
      score_functions,
      "bahdanau: this score lacks prepare(weights, keys) or scores(weights, query, prepared, spans); "
      "write them as points 3 and 4 of bahdanau::Score say (score/score.hpp)");
  static constexpr bool first_three = backend && CellOn<C, B> && ScoreOrNone<S, B>;

  static_assert(
      !first_three || count_of<Kind::unknown, Others...> == 0,
      "bahdanau: behind the backend, EncoderDecoder takes an encoder, a decoder and a readout, in any "
      "order, and this is none of them; use Bidirectional, InputFeeding, TanhReadout and the like, or a "
      "struct X of your own: static_assert(bahdanau::Encoder<X>), Decoder<X> or Readout<X> shows what it "
      "lacks, docs/own_model.md has one of each");
  static_assert(
      !first_three || count_of<Kind::encoder, Others...> <= 1,
      "bahdanau: an EncoderDecoder has one encoder, and this one is given several; name one of them");
  static_assert(
      !first_three || count_of<Kind::decoder, Others...> <= 1,
      "bahdanau: an EncoderDecoder has one decoder, and this one is given several; name one of them");
  static_assert(
      !first_three || count_of<Kind::readout, Others...> <= 1,
      "bahdanau: an EncoderDecoder has one readout, and this one is given several; name one of them");
  static constexpr bool kinds = first_three && OneOfEach<Others...>;

  static consteval bool encodes() {
    if constexpr (kinds) return EncoderOn<E, C, B>;
    return true;
  }
  static_assert(
      encodes(),
      "bahdanau: this encoder has no Network<Cell> made from (Scope, vocabulary, Config) with "
      "run(tape, input, encoding); write it as points 3 and 4 of bahdanau::Encoder say (model/encoder.hpp)");
  static consteval bool widths_fit() {
    if constexpr (kinds) return WidthsFit<S, E>;
    return true;
  }
  static_assert(
      widths_fit(),
      "bahdanau: this score (ScaledDot, say) needs keys as wide as queries, but a Bidirectional encoder "
      "makes keys twice as wide; use Additive or General, or a Unidirectional encoder");
  static consteval bool cell_fits() {
    if constexpr (kinds) return CellFits<D, C>;
    return true;
  }
  static_assert(
      cell_fits(),
      "bahdanau: this decoder (Conditional, say) steps a cell twice per token, and this cell says that its "
      "steps count tokens (one_step_per_token); use AttendThenStep or InputFeeding, or another cell");
  static consteval bool no_score_fits() {
    if constexpr (kinds) return ScoreFits<S, D> || attending<S>;
    return true;
  }
  static_assert(
      no_score_fits(),
      "bahdanau: NoScore is for decoders that do not attend, and this one does (AttendThenStep, unless "
      "another is named); use Plain or FixedContext, or a score, Additive say");
  static consteval bool score_fits() {
    if constexpr (kinds) return ScoreFits<S, D> || !attending<S>;
    return true;
  }
  static_assert(
      score_fits(),
      "bahdanau: this decoder (Plain, say) does not attend, so that nothing would ask this score; use "
      "NoScore, or a decoder that attends, AttendThenStep say");
  static consteval bool decodes() {
    if constexpr (kinds)
      if constexpr (ScoreFits<S, D>) return DecoderOn<D, C, S, B>;
    return true;
  }
  static_assert(
      decodes(),
      "bahdanau: this decoder has no Network<Cell> made from (Scope, DecoderSizes) with output_width(), "
      "State with each(f), start(tape, first, state), known(tokens) and step(step, known, state); write them "
      "as points 2 to 5 of bahdanau::Decoder say (model/decoder.hpp)");
  static consteval bool reads_out() {
    if constexpr (kinds) return ReadoutOn<R, B>;
    return true;
  }
  static_assert(
      reads_out(),
      "bahdanau: this readout lacks Weights, declare(scope, sizes), width(sizes) or features(weights, "
      "features); write them as points 3 and 4 of bahdanau::Readout say (model/readout.hpp)");
  static consteval bool readout_fits() {
    if constexpr (kinds) return ReadoutFits<D, R>;
    return true;
  }
  static_assert(
      readout_fits(),
      "bahdanau: this readout (DeepOutput<500>, say) reads the state before the step, and this decoder "
      "does not attend before it; use AttendThenStep, or DeepOutput<500, OutputState::after>");
  static consteval bool context_fits() {
    if constexpr (kinds) return ContextFits<C, D, R>;
    return true;
  }
  static_assert(
      context_fits(),
      "bahdanau: this readout reads a context, and this decoder (Plain, say) has none; use FixedContext or "
      "a decoder that attends, or say `context_optional = true` in a readout that works without");
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
