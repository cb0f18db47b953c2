// Softmax over valid positions, and softmax with cross-entropy in one pass.
// A position beyond the valid length is never read and gets weight exactly 0.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>

#include <bahdanau/autograd/ops/common.hpp>
#include <bahdanau/autograd/spans.hpp>

namespace bahdanau {

namespace pointwise {

/// e^(x - m)
struct ExpMinus {
  template <class V>
  BAHDANAU_HOST_DEVICE V operator()(V x, V m) const {
    return pointwise::exp(x - m);
  }
};
/// a x + b
struct ScaleShift {
  template <class V>
  BAHDANAU_HOST_DEVICE V operator()(V x, V a, V b) const {
    return pointwise::multiply_add(a, x, b);
  }
};
/// y (dy - s), s = Σ y dy
struct SoftmaxDerivative {
  template <class V>
  BAHDANAU_HOST_DEVICE V operator()(V y, V dy, V s) const {
    return y * (dy - s);
  }
};

}  // namespace pointwise

namespace detail {

/// The rows of a matrix [rows, cols], each valid up to its own length.
struct PaddedRows {
  std::size_t cols;
  const Index* length;
  BAHDANAU_HOST_DEVICE std::size_t begin(std::size_t r) const { return r * cols; }
  BAHDANAU_HOST_DEVICE std::size_t valid(std::size_t r) const { return static_cast<std::size_t>(length[r]); }
  BAHDANAU_HOST_DEVICE std::size_t padding(std::size_t r) const { return cols - valid(r); }
};

/// The pairs of each query, one run after the other.
struct SpanRows {
  const Index *offset, *length;
  BAHDANAU_HOST_DEVICE std::size_t begin(std::size_t r) const { return static_cast<std::size_t>(offset[r]); }
  BAHDANAU_HOST_DEVICE std::size_t valid(std::size_t r) const { return static_cast<std::size_t>(length[r]); }
  BAHDANAU_HOST_DEVICE std::size_t padding(std::size_t) const { return 0; }
};

template <class Rows, class T>
struct SoftmaxRow {
  Rows rows;
  T* y;
  const T* x;
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t r) const {
    const std::size_t begin = rows.begin(r), n = rows.valid(r);
    const T largest = lanes.max(n, pointwise::Identity{}, x + begin);
    lanes.map(n, pointwise::ExpMinus{}, Store<T>{y + begin}, x + begin, largest);
    const T total = lanes.sum(n, pointwise::Identity{}, static_cast<const T*>(y + begin));
    lanes.map(n, pointwise::Divide{}, Store<T>{y + begin}, static_cast<const T*>(y + begin), total);
    lanes.map(rows.padding(r), pointwise::Identity{}, Store<T>{y + begin + n}, T(0));
  }
};

template <class Rows, class T>
struct SoftmaxAdjointRow {
  Rows rows;
  T* dx;
  bool empty;
  const T *y, *dy;
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t r) const {
    const std::size_t begin = rows.begin(r), n = rows.valid(r);
    // y = softmax x  =>  dx += y (dy - Σ y dy)
    const T weighted = lanes.sum(n, pointwise::Times{}, y + begin, dy + begin);
    if (empty) {
      lanes.map(n, pointwise::SoftmaxDerivative{}, Store<T>{dx + begin}, y + begin, dy + begin, weighted);
      lanes.map(rows.padding(r), pointwise::Identity{}, Store<T>{dx + begin + n}, T(0));
    } else {
      lanes.map(n, pointwise::SoftmaxDerivative{}, Add<T>{dx + begin}, y + begin, dy + begin, weighted);
    }
  }
};

template <class Rows, Backend B>
Variable<B> softmax_over(const Variable<B>& x, Rows rows, std::size_t count) {
  using T = typename B::Scalar;
  const Variable<B> y = x.tape->variable(x.shape);
  B::for_rows(count, SoftmaxRow<Rows, T>{rows, y.value, x.value});
  x.tape->record({"softmax", {x}, {y}, {y}}, [=](Gradients<B>& d) {
    const auto [dx, empty] = d.target(x);
    B::for_rows(count, SoftmaxAdjointRow<Rows, T>{rows, dx, empty, y.value, d.of(y)});
  });
  return y;
}

/// Loss and, in place of the logits, its gradient.
template <class T>
struct CrossEntropyRow {
  T* logits;  // [rows, classes]
  T* nats;    // [rows]
  T* losses;  // [rows], or null: the smoothed loss
  const Index* target;
  std::size_t classes;
  T scale, smoothing;
  bool gradient;
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t r) const {
    T* x = logits + r * classes;
    const T* in = x;
    const std::size_t label = static_cast<std::size_t>(target[r]);
    const T picked = x[label], share = smoothing / static_cast<T>(classes);
    const T mean_part = losses ? share * lanes.sum(classes, pointwise::Identity{}, in) : T(0);
    const T largest = lanes.max(classes, pointwise::Identity{}, in);
    if (gradient) lanes.map(classes, pointwise::ExpMinus{}, Store<T>{x}, in, largest);
    const T total = gradient ? lanes.sum(classes, pointwise::Identity{}, in)
                             : lanes.sum(classes, pointwise::ExpMinus{}, in, largest);
    if (lanes.owns(0)) {
      // nats = ln Σ e^x - x[label];  loss = (1 - ε) nats + ε mean_c (ln Σ e^x - x[c])
      const T log_total = pointwise::log(total) + largest;
      nats[r] = log_total - picked;
      if (losses) losses[r] = std::fma(smoothing - T(1), picked, log_total) - mean_part;
    }
    if (!gradient) return;
    // dx = scale (softmax x - (1 - ε) 1[label] - ε / classes)
    if (losses)
      lanes.map(classes, pointwise::ScaleShift{}, Store<T>{x}, in, scale / total, -scale * share);
    else
      lanes.map(classes, pointwise::Times{}, Store<T>{x}, in, scale / total);
    if (lanes.owns(label)) x[label] = std::fma(-scale, T(1) - smoothing, x[label]);
  }
};

template <Backend B>
void run_cross_entropy(const Variable<B>& logits, const Variable<B>& nats, typename B::Scalar* losses,
                       const Index* target, typename B::Scalar scale, typename B::Scalar smoothing) {
  const bool recording = logits.tape->recording();
  if (recording && (!logits.given || logits.tape->take(logits).value != logits.value))
    fail("cross_entropy", "logits made with Result::given", "logits that are not its to overwrite");
  if (recording) logits.tape->seed(logits);  // in place of the logits, which were taken
  B::for_rows(logits.rows(), CrossEntropyRow<typename B::Scalar>{logits.value, nats.value, losses, target,
                                                                 logits.cols(), scale, smoothing, recording});
}

}  // namespace detail

/// y[r, :] = softmax of x[r, 0 .. length[r]); 0 from there on. x [rows, cols]; lengths on the host, one a
/// row, each from 1 to cols.
template <Backend B>
Variable<B> softmax(const Variable<B>& x, std::span<const Index> lengths) {
  detail::require_made("softmax", x);
  detail::require_equal("softmax", "valid lengths:", x.rows(), lengths.size());
  for (const Index length : lengths)
    if (length < 1 || static_cast<std::size_t>(length) > x.cols())
      fail("softmax", "valid lengths from 1 to " + detail::text(x.cols()), detail::text(length));
  return detail::softmax_over(x, detail::PaddedRows{x.cols(), x.tape->keep(lengths)}, x.rows());
}

/// α = softmax of the scores [pairs] of each query.
template <Backend B>
Variable<B> softmax(const Variable<B>& scores, const SpanView<B>& spans) {
  detail::require_made("softmax", scores);
  detail::require_equal("softmax", "scores, one per pair:", spans.pairs, scores.size());
  return detail::softmax_over(scores, detail::SpanRows{spans.offset, spans.length}, spans.queries);
}

/// nats[r] = ln Σ_c e^logits[r, c] - logits[r, target[r]], for logits made with `Result::given`: where the
/// tape records, they become at once the gradient of `scale · Σ_r nats[r]`. So there is no adjoint:
/// `Tape::play` goes on from them. logits [rows, classes], nats [rows]; targets are on the tape and were
/// checked.
template <Backend B>
Variable<B> cross_entropy(const Variable<B>& logits, const Index* target, typename B::Scalar scale) {
  const Variable<B> nats = logits.tape->constant({logits.rows()});
  detail::run_cross_entropy<B>(logits, nats, nullptr, target, scale, 0);
  return nats;
}

/// Both of what a smoothed cross-entropy gives, each [rows].
template <Backend B>
struct SmoothedCrossEntropy {
  Variable<B> nats;    // without smoothing: what perplexity is made of
  Variable<B> losses;  // with it: what the gradient is of
};

/// The same with a target that puts ε = `smoothing` evenly on all classes and the rest on the label.
template <Backend B>
SmoothedCrossEntropy<B> smoothed_cross_entropy(const Variable<B>& logits, const Index* target,
                                               typename B::Scalar scale, typename B::Scalar smoothing) {
  if (!(smoothing >= 0 && smoothing < 1))
    fail("label_smoothing", "a value from 0 up to, not including, 1", detail::number_text(smoothing));
  const SmoothedCrossEntropy<B> out{logits.tape->constant({logits.rows()}),
                                    logits.tape->constant({logits.rows()})};
  detail::run_cross_entropy<B>(logits, out.nats, out.losses.value, target, scale, smoothing);
  return out;
}

}  // namespace bahdanau
