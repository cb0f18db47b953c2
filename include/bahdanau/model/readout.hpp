// The Readout concept: from state, context and previous token to what the output layer reads.
// To add a readout, write one struct as those below; the output layer, logits = W t + b, is the model's.
#pragma once

#include <concepts>
#include <cstddef>
#include <string_view>

#include <bahdanau/autograd/ops.hpp>
#include <bahdanau/backend/any_backend.hpp>
#include <bahdanau/nn/parameter.hpp>

namespace bahdanau {

/// How wide the things are that a readout reads.
struct ReadoutSizes {
  std::size_t state, context, embed;  // the context's is 0 where the decoder has none
  std::size_t hidden;                 // of the state before the step
};

/// Which of them it reads besides the decoder's output: those alone are kept for it.
struct ReadoutInputs {
  bool before = false, context = false, token = false;
};

/// What a readout is given, for the rows of one step or of all: each [rows, its width].
template <Backend B>
struct Features {
  Variable<B> state;    // the decoder's output: s, or what stands for it
  Variable<B> before;   // the top layer's s before the step
  Variable<B> context;  // c; not set where the decoder has none
  Variable<B> token;    // y, the previous token's embedding
};

namespace detail {

/// Points 1 and 2 of the contract below.
template <class R>
concept DeclaresReadout = requires(Scope scope, const ReadoutSizes& sizes) {
  { R::name } -> std::convertible_to<std::string_view>;
  { R::reads } -> std::convertible_to<ReadoutInputs>;
};

/// Points 3 and 4.
template <class R, class B>
concept ReadsOut = requires(Scope scope, const ReadoutSizes& sizes, const typename R::Weights& weights,
                            const Features<B>& features) {
  { R::width(sizes) } -> std::convertible_to<std::size_t>;
  { R::declare(scope, sizes) } -> std::same_as<typename R::Weights>;
  { R::features(weights, features) } -> std::same_as<Variable<B>>;
};

}  // namespace detail

/// From state, context and previous token to what the output layer reads. Models: `LinearReadout`,
/// `ConcatReadout`, `TanhReadout`, `DeepOutput`.
///
/// 1. `name` is what a model file calls it, sizes of its own included.
/// 2. `reads` says which features it reads besides the decoder's output. One that reads the context, and
///    works where the decoder has none, says `context_optional = true`: its width is 0 then.
/// 3. `Weights` and `declare(scope, sizes)` are its parameters, under `decoder.`; `width(sizes)` is how wide
///    the output layer's input is.
/// 4. `features(weights, features)` makes it [rows, width]: for the rows of all steps at once where that can
///    be.
template <class R>
concept Readout = detail::DeclaresReadout<R> && detail::ReadsOut<R, AnyBackend>;

/// The same with point 4 on one backend.
template <class R, class B>
concept ReadoutOn = detail::DeclaresReadout<R> && Backend<B> && detail::ReadsOut<R, B>;

/// d2l's: the output layer reads the state, as it is.
struct LinearReadout {
  static constexpr std::string_view name = "linear";
  static constexpr ReadoutInputs reads{};
  struct Weights {};

  static std::size_t width(const ReadoutSizes& sizes) { return sizes.state; }
  static Weights declare(Scope, const ReadoutSizes&) { return {}; }
  template <Backend B>
  static Variable<B> features(const Weights&, const Features<B>& in) {
    return in.state;
  }
};

/// The output layer reads [s ; c ; y]: g(y, s, c) as one fully connected layer.
struct ConcatReadout {
  static constexpr std::string_view name = "concat";
  static constexpr ReadoutInputs reads{.context = true, .token = true};
  static constexpr bool context_optional = true;  // [s ; y] then
  struct Weights {};

  static std::size_t width(const ReadoutSizes& sizes) { return sizes.state + sizes.context + sizes.embed; }
  static Weights declare(Scope, const ReadoutSizes&) { return {}; }
  template <Backend B>
  static Variable<B> features(const Weights&, const Features<B>& in) {
    if (in.context.tape == nullptr) return concat_columns<B>({in.state, in.token});
    return concat_columns<B>({in.state, in.context, in.token});
  }
};

static_assert(Readout<LinearReadout> && Readout<ConcatReadout>);

}  // namespace bahdanau
