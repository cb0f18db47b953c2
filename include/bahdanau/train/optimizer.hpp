// Optimizers: how gradients move weights. Clipping is folded into the same pass over the parameters.
// An optimizer is a struct of settings; its moments live in blocks beside the weights.
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>

#include <bahdanau/autograd/ops/common.hpp>
#include <bahdanau/backend/any_backend.hpp>
#include <bahdanau/nn/weights.hpp>
#include <bahdanau/train/slices.hpp>

namespace bahdanau {

namespace pointwise {

/// m' = β₁ m + (1 - β₁) g, v' = β₂ v + (1 - β₂) g², w' = keep w - rate m' / (root √v' + ε), where rate and
/// root hold the bias corrections, and g is the clipped gradient.
template <class T>
struct AdamStep {
  T clip, beta1, beta2, rate, root, epsilon, keep;
  template <class V>
  BAHDANAU_HOST_DEVICE Values<V, 3> operator()(V w, V m, V v, V gradient) const {
    const V g = V(clip) * gradient;
    const V m_next = pointwise::multiply_add(V(beta1), m, pointwise::rounded_product(V(T(1) - beta1), g));
    const V v_next = pointwise::multiply_add(V(beta2), v, pointwise::rounded_product(V(T(1) - beta2) * g, g));
    const V moved = pointwise::multiply_add(
        V(keep), w,
        -(V(rate) * m_next / pointwise::multiply_add(pointwise::sqrt(v_next), V(root), V(epsilon))));
    return {{moved, m_next, v_next}};
  }
};

/// m' = momentum m + g, w' = w - rate m'
template <class T>
struct SgdStep {
  T clip, rate, momentum;
  template <class V>
  BAHDANAU_HOST_DEVICE Values<V, 2> operator()(V w, V m, V gradient) const {
    const V m_next = pointwise::multiply_add(V(momentum), m, pointwise::rounded_product(V(clip), gradient));
    return {{pointwise::multiply_add(V(-rate), m_next, w), m_next}};
  }
};

/// v' = ρ v + (1 - ρ) g², d = √(u + ε) / √(v' + ε) g, u' = ρ u + (1 - ρ) d², w' = w - rate d
template <class T>
struct AdadeltaStep {
  T clip, rate, rho, epsilon;
  template <class V>
  BAHDANAU_HOST_DEVICE Values<V, 3> operator()(V w, V v, V u, V gradient) const {
    const V g = V(clip) * gradient;
    const V v_next = pointwise::multiply_add(V(rho), v, pointwise::rounded_product(V(T(1) - rho) * g, g));
    const V d = pointwise::sqrt(u + V(epsilon)) / pointwise::sqrt(v_next + V(epsilon)) * g;
    return {{pointwise::multiply_add(V(-rate), d, w), v_next,
             pointwise::multiply_add(V(rho), u, pointwise::rounded_product(V(T(1) - rho) * d, d))}};
  }
};

}  // namespace pointwise

/// What an optimizer remembers: two blocks laid out as the weights are, and the number of steps done.
template <Backend B>
struct OptimizerState {
  explicit OptimizerState(const ParameterList& list) : OptimizerState({0, list.size()}) {}
  /// Of some elements alone.
  explicit OptimizerState(Slice elements)
      : first(elements.size()), second(elements.size()), begin(elements.begin) {}
  ParameterBlock<B> first, second;
  std::size_t begin = 0;  // the element that the blocks begin with
  std::uint64_t steps = 0;
};

/// One step's circumstances, beside an optimizer's own settings.
struct StepScale {
  double clip = 1;             // gradients enter multiplied by this
  double rate = 1;             // the learning rate is multiplied by this
  Workers* workers = nullptr;  // who share the work, if anyone
  // The elements that this process moves; null: all. Only for optimizers that are `elementwise`.
  const Slice* slice = nullptr;

  Slice elements(std::size_t n) const { return slice != nullptr ? *slice : Slice{0, n}; }
};

namespace detail {

/// Throws `where: expected <what>, got x` unless the number is finite, at least `least` and below `limit`.
inline void require_number(std::string_view where, std::string_view what, double x, double least = 0,
                           double limit = std::numeric_limits<double>::infinity()) {
  if (!(x >= least && x < limit)) fail(where, what, number_text(x));  // so for NaN too
}
/// A share from 0 up to, not including, 1.
inline void require_fraction(std::string_view where, double x) {
  require_number(where, "a number from 0 up to, not including, 1", x, 0, 1);
}
inline void require_not_negative(std::string_view where, double x) {
  require_number(where, "a number of at least 0", x);
}

/// The settings that Adam and AdamW have in common.
inline void check_adam(const std::string& name, double rate, double beta1, double beta2, double epsilon) {
  require_not_negative(name + ".rate", rate);
  require_fraction(name + ".beta1", beta1);
  require_fraction(name + ".beta2", beta2);
  require_not_negative(name + ".epsilon", epsilon);
}

/// Does a step: of each weight, its moments and its gradient `step` makes the weight and the moments after
/// it. The moments are blocks of `state`.
template <Backend B, class Step, class... Moments>
void move_elements(const Step& step, const StepScale& scale, OptimizerState<B>& state,
                   ParameterBlock<B>& weights, const ParameterBlock<B>& gradients, Moments&... moments) {
  using T = typename B::Scalar;
  ++state.steps;
  const Slice some = scale.elements(weights.size());
  const auto move = [&](auto*... x) {
    map_on_threads<B>(scale.workers, some.size(), step, Store<T>{x}..., input(x)...,
                      numbers(gradients) + some.begin);
  };
  move(numbers_to_change(weights) + some.begin, numbers_to_change(moments) + (some.begin - state.begin)...);
}

template <Backend B>
void adam_update(double rate, double beta1, double beta2, double epsilon, double keep, const StepScale& scale,
                 OptimizerState<B>& state, ParameterBlock<B>& weights, const ParameterBlock<B>& gradients) {
  using T = typename B::Scalar;
  const auto t = static_cast<double>(state.steps + 1);
  const double corrected_rate = rate / (1 - std::pow(beta1, t));
  const double root = 1 / std::sqrt(1 - std::pow(beta2, t));
  const auto as = [](double x) { return static_cast<T>(x); };
  const pointwise::AdamStep<T> step{as(scale.clip), as(beta1),   as(beta2), as(corrected_rate),
                                    as(root),       as(epsilon), as(keep)};
  move_elements<B>(step, scale, state, weights, gradients, state.first, state.second);
}

/// Point 5 of the contract below.
template <class Optimizer>
inline constexpr bool is_elementwise = [] {
  if constexpr (requires { Optimizer::elementwise; })
    return bool(Optimizer::elementwise);
  else
    return false;
}();

}  // namespace detail

/// An optimizer's settings by name, as checkpoints keep them: a training that is resumed must have the same.
using OptimizerSettings = std::map<std::string, double>;

namespace detail {

/// What an optimizer says of its settings; one's own that says nothing is known by its rate alone.
template <class Optimizer>
OptimizerSettings settings_of(const Optimizer& optimizer) {
  if constexpr (requires { OptimizerSettings(optimizer.settings()); }) {
    return optimizer.settings();
  } else {
    return {{"rate", static_cast<double>(optimizer.rate)}};
  }
}

}  // namespace detail

/// How gradients move weights. Models: `Adam`, `AdamW`, `Sgd`, `Adadelta`.
///
/// 1. `name` is what a checkpoint calls it.
/// 2. `update(state, weights, gradients, scale)` does a step: gradients enter multiplied by `scale.clip`, the
///    learning rate by `scale.rate`. `state` has two blocks for whatever it remembers, and counts the steps.
/// 3. `settings()` are its numbers by name, which a checkpoint must agree with; or `rate`, if that is all.
/// 4. It may have `check()`, which throws for settings that are out of range.
/// 5. It may say `static constexpr bool elementwise = true`: `update` moves no other elements of the weights
///    than `scale.elements(weights.size())`, and needs no others of the gradients; those of `state` begin
///    with element `state.begin`. Then several processes share a step, and the memory for `state`; without it
///    each does the whole.
template <class O, class B>
concept OptimizerOn = Backend<B> &&
    requires(const O& optimizer, OptimizerState<B>& state, ParameterBlock<B>& weights,
             const ParameterBlock<B>& gradients, const StepScale& scale) {
  { O::name } -> std::convertible_to<std::string_view>;
  optimizer.update(state, weights, gradients, scale);
  detail::settings_of(optimizer);
};

/// Adam with bias correction (Kingma and Ba).
struct Adam {
  static constexpr std::string_view name = "adam";
  static constexpr bool elementwise = true;
  double rate = 0.001;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;

  /// Throws for settings that are no numbers, or out of range.
  void check() const { detail::check_adam("Adam", rate, beta1, beta2, epsilon); }

  OptimizerSettings settings() const {
    return {{"rate", rate}, {"beta1", beta1}, {"beta2", beta2}, {"epsilon", epsilon}};
  }

  template <Backend B>
  void update(OptimizerState<B>& state, ParameterBlock<B>& weights, const ParameterBlock<B>& gradients,
              const StepScale& scale) const {
    detail::adam_update<B>(scale.rate * rate, beta1, beta2, epsilon, 1, scale, state, weights, gradients);
  }
};

/// Adam with decoupled weight decay (Loshchilov and Hutter): weights shrink by rate · decay before each step.
struct AdamW {
  static constexpr std::string_view name = "adamw";
  static constexpr bool elementwise = true;
  double rate = 0.001;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  double decay = 0.01;

  void check() const {
    detail::check_adam("AdamW", rate, beta1, beta2, epsilon);
    detail::require_not_negative("AdamW.decay", decay);
  }

  OptimizerSettings settings() const {
    return {{"rate", rate}, {"beta1", beta1}, {"beta2", beta2}, {"epsilon", epsilon}, {"decay", decay}};
  }

  template <Backend B>
  void update(OptimizerState<B>& state, ParameterBlock<B>& weights, const ParameterBlock<B>& gradients,
              const StepScale& scale) const {
    const double now = scale.rate * rate;
    detail::adam_update<B>(now, beta1, beta2, epsilon, 1 - now * decay, scale, state, weights, gradients);
  }
};

/// Stochastic gradient descent with momentum.
struct Sgd {
  static constexpr std::string_view name = "sgd";
  static constexpr bool elementwise = true;
  double rate = 0.1;
  double momentum = 0;

  void check() const {
    detail::require_not_negative("Sgd.rate", rate);
    detail::require_fraction("Sgd.momentum", momentum);
  }

  OptimizerSettings settings() const { return {{"rate", rate}, {"momentum", momentum}}; }

  template <Backend B>
  void update(OptimizerState<B>& state, ParameterBlock<B>& weights, const ParameterBlock<B>& gradients,
              const StepScale& scale) const {
    using T = typename B::Scalar;
    const pointwise::SgdStep<T> step{static_cast<T>(scale.clip), static_cast<T>(scale.rate * rate),
                                     static_cast<T>(momentum)};
    detail::move_elements<B>(step, scale, state, weights, gradients, state.first);
  }
};

/// Adadelta (Zeiler), with which the paper of Bahdanau, Cho and Bengio was trained.
struct Adadelta {
  static constexpr std::string_view name = "adadelta";
  static constexpr bool elementwise = true;
  double rate = 1;
  double rho = 0.95, epsilon = 1e-6;

  void check() const {
    detail::require_not_negative("Adadelta.rate", rate);
    detail::require_fraction("Adadelta.rho", rho);
    detail::require_not_negative("Adadelta.epsilon", epsilon);
  }

  OptimizerSettings settings() const { return {{"rate", rate}, {"rho", rho}, {"epsilon", epsilon}}; }

  template <Backend B>
  void update(OptimizerState<B>& state, ParameterBlock<B>& weights, const ParameterBlock<B>& gradients,
              const StepScale& scale) const {
    using T = typename B::Scalar;
    const pointwise::AdadeltaStep<T> step{static_cast<T>(scale.clip), static_cast<T>(scale.rate * rate),
                                          static_cast<T>(rho), static_cast<T>(epsilon)};
    detail::move_elements<B>(step, scale, state, weights, gradients, state.first, state.second);
  }
};

static_assert(OptimizerOn<Adam, AnyBackend> && OptimizerOn<AdamW, AnyBackend> &&
              OptimizerOn<Sgd, AnyBackend> && OptimizerOn<Adadelta, AnyBackend>);

/// The factor for gradients of norm ‖g‖ under a bound θ: θ / ‖g‖ if ‖g‖ > θ, else 1. A bound of 0 never
/// clips.
inline double clip_factor(double norm, double bound) {
  return bound > 0 && norm > bound ? bound / norm : 1.0;
}

}  // namespace bahdanau
