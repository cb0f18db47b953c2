// Optimizers: how gradients move weights. Clipping is folded into the same pass over the parameters.
// An optimizer is a struct of settings; its moments live in blocks beside the weights.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include <bahdanau/autograd/ops/common.hpp>
#include <bahdanau/nn/weights.hpp>

namespace bahdanau {

namespace pointwise {

/// m' = β₁ m + (1 - β₁) g, v' = β₂ v + (1 - β₂) g², w' = w - rate m' / (√v' / root + ε), where rate and root
/// hold the bias corrections, and g is the clipped gradient.
template <class T>
struct AdamStep {
  T clip, beta1, beta2, rate, root, epsilon;
  template <class V>
  BAHDANAU_HOST_DEVICE Values<V, 3> operator()(V w, V m, V v, V gradient) const {
    const V g = V(clip) * gradient;
    const V m_next = V(beta1) * m + V(T(1) - beta1) * g;
    const V v_next = V(beta2) * v + V(T(1) - beta2) * g * g;
    const V moved = w - V(rate) * m_next / (pointwise::sqrt(v_next) / V(root) + V(epsilon));
    return {{moved, m_next, v_next}};
  }
};

}  // namespace pointwise

/// Adam with bias correction (Kingma and Ba).
struct Adam {
  double rate = 0.001;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;

  /// Its two moments and the number of steps done.
  template <Backend B>
  struct State {
    explicit State(const ParameterList& list) : m(list), v(list) {}
    ParameterBlock<B> m, v;
    std::uint64_t steps = 0;
  };

  /// One step over all parameters; gradients enter multiplied by `clip`.
  template <Backend B>
  void update(State<B>& state, ParameterBlock<B>& weights, const ParameterBlock<B>& gradients,
              double clip) const {
    using T = typename B::Scalar;
    const auto t = static_cast<double>(++state.steps);
    const double corrected_rate = rate / (1 - std::pow(beta1, t));
    const double root = std::sqrt(1 - std::pow(beta2, t));
    const pointwise::AdamStep<T> step{static_cast<T>(clip),  static_cast<T>(beta1),
                                      static_cast<T>(beta2), static_cast<T>(corrected_rate),
                                      static_cast<T>(root),  static_cast<T>(epsilon)};
    T *w = weights.data(), *m = state.m.data(), *v = state.v.data();
    detail::map_elements<B>(weights.size(), step, Store<T>{w}, Store<T>{m}, Store<T>{v}, detail::input(w),
                            detail::input(m), detail::input(v), gradients.data());
  }
};

/// The factor for gradients of norm ‖g‖ under a bound θ: θ / ‖g‖ if ‖g‖ > θ, else 1. A bound of 0 never
/// clips.
inline double clip_factor(double norm, double bound) {
  return bound > 0 && norm > bound ? bound / norm : 1.0;
}

}  // namespace bahdanau
