// Layer normalisation (Ba, Kiros and Hinton, 2016): each row brought to mean 0 and variance 1, then scaled
// and shifted. One fused kernel forward and one backward, on every backend.
#pragma once

#include <cstddef>

#include <bahdanau/autograd/ops/common.hpp>

namespace bahdanau {

namespace pointwise {

/// (x - μ)²
struct SquaredDistance {
  template <class V>
  BAHDANAU_HOST_DEVICE V operator()(V x, V mean) const {
    return (x - mean) * (x - mean);
  }
};
/// g s (x - μ) + b
struct LayerNormStep {
  template <class V>
  BAHDANAU_HOST_DEVICE V operator()(V x, V gain, V bias, V mean, V scale) const {
    return pointwise::multiply_add((x - mean) * scale, gain, bias);
  }
};
/// dy g x̂, x̂ = s (x - μ)
struct LayerNormSlope {
  template <class V>
  BAHDANAU_HOST_DEVICE V operator()(V x, V gain, V dy, V mean, V scale) const {
    return dy * gain * ((x - mean) * scale);
  }
};
/// From x, g, dy, μ, s, and the means of dy g and dy g x̂: the gradients of x, g and b.
struct LayerNormAdjoint {
  template <class V>
  BAHDANAU_HOST_DEVICE Values<V, 3> operator()(V x, V gain, V dy, V mean, V scale, V level, V slope) const {
    const V normal = (x - mean) * scale;
    // y = g x̂ + b, x̂ = s (x - μ), where μ and s depend on the whole row
    const V dx = scale * pointwise::multiply_add(-normal, slope, dy * gain - level);
    return {{dx, dy * normal, dy}};
  }
};

}  // namespace pointwise

namespace detail {

/// y = g s (x - μ) + b, s = 1 / √(σ² + ε); μ and s of each row are kept for the adjoint.
template <class T>
struct LayerNormRow {
  std::size_t cols;
  T epsilon;
  T *y, *moments;  // [rows, cols]; [rows, 2]: μ, s
  const T *x, *gain, *bias;
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t r) const {
    const T* row = x + r * cols;
    const T n = static_cast<T>(cols);
    const T mean = lanes.sum(cols, pointwise::Identity{}, row) / n;
    const T variance = lanes.sum(cols, pointwise::SquaredDistance{}, row, mean) / n;
    const T scale = T(1) / pointwise::sqrt(variance + epsilon);
    lanes.map(cols, pointwise::LayerNormStep{}, Store<T>{y + r * cols}, row, gain, bias, mean, scale);
    if (!lanes.owns(0)) return;
    moments[2 * r] = mean;
    moments[2 * r + 1] = scale;
  }
};

/// dx = s (dy g - mean(dy g) - x̂ mean(dy g x̂)), dg += dy x̂, db += dy; dx is stored or added.
template <template <class> class Output, class T>
struct LayerNormAdjointRow {
  std::size_t cols;
  T *dx, *dgain, *dbias;
  const T *x, *gain, *moments, *dy;
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t r) const {
    const T *row = x + r * cols, *d = dy + r * cols;
    const T n = static_cast<T>(cols), mean = moments[2 * r], scale = moments[2 * r + 1];
    const T level = lanes.sum(cols, pointwise::Times{}, d, gain) / n;
    const T slope = lanes.sum(cols, pointwise::LayerNormSlope{}, row, gain, d, mean, scale) / n;
    lanes.map(cols, pointwise::LayerNormAdjoint{}, Output<T>{dx + r * cols}, AddShared<T>{dgain},
              AddShared<T>{dbias}, row, gain, d, mean, scale, level, slope);
  }
};

}  // namespace detail

/// What keeps a row of equal numbers from a division by 0: that of PyTorch's `F.layer_norm`.
inline constexpr double layer_norm_epsilon = 1e-5;

/// y = g ⊙ (x - μ) / √(σ² + ε) + b, with the mean μ and the variance σ² (of which the mean square is meant)
/// of each row: x [rows, cols], g and b [cols], y [rows, cols]. Throws unless g and b have one number a
/// column.
template <Backend B>
Variable<B> layer_norm(const Variable<B>& x, const Variable<B>& gain, const Variable<B>& bias,
                       Result result = Result::kept) {
  using T = typename B::Scalar;
  detail::require_same_tape("layer_norm", x, gain);
  detail::require_same_tape("layer_norm", x, bias);
  const std::size_t rows = x.rows(), cols = x.cols();
  detail::require_shape("layer_norm", "a gain", {cols}, gain.shape);
  detail::require_shape("layer_norm", "a bias", {cols}, bias.shape);
  const Variable<B> y = x.tape->variable(x.shape, result), moments = x.tape->constant({rows, 2});
  B::for_rows(rows, detail::LayerNormRow<T>{cols, static_cast<T>(layer_norm_epsilon), y.value, moments.value,
                                            x.value, gain.value, bias.value});
  x.tape->record({"layer_norm", {x, gain, bias}, {y}, {x, gain}}, [=](Gradients<B>& d) {
    T *dgain = d.to(gain), *dbias = d.to(bias);
    const auto [dx, empty] = d.target(x);
    if (empty)
      B::for_rows(rows, detail::LayerNormAdjointRow<Store, T>{cols, dx, dgain, dbias, x.value, gain.value,
                                                              moments.value, d.of(y)});
    else
      B::for_rows(rows, detail::LayerNormAdjointRow<Add, T>{cols, dx, dgain, dbias, x.value, gain.value,
                                                            moments.value, d.of(y)});
  });
  return y;
}

/// The same with parameters of the model that x's tape is bound to.
template <Backend B>
Variable<B> layer_norm(const Variable<B>& x, const Parameter& gain, const Parameter& bias,
                       Result result = Result::kept) {
  detail::require_made("layer_norm", x);
  return layer_norm(x, (*x.tape)[gain], (*x.tape)[bias], result);
}

}  // namespace bahdanau
