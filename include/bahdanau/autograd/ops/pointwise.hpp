// Pointwise operations: functions of one array, and of two of the same shape or one with a row.
// Each is a functor and its derivatives; the launch and the adjoint are written once.
#pragma once

#include <cstddef>

#include <bahdanau/autograd/ops/common.hpp>

namespace bahdanau {

namespace detail {

template <class F, class T>
struct BinaryRow {
  F f;
  std::size_t cols, b_stride;
  T* out;
  const T *a, *b;
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t r) const {
    lanes.map(cols, f, Store<T>{out + r * cols}, a + r * cols, b + r * b_stride);
  }
};

template <class F, class T>
struct BinaryAdjointRow {
  F derivative;
  std::size_t cols, b_stride, out_stride;
  T* out;
  const T *a, *b, *dy;
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t r) const {
    lanes.map(cols, derivative, AddShared<T>{out + r * out_stride}, a + r * cols, b + r * b_stride,
              dy + r * cols);
  }
};

}  // namespace detail

/// y = f(x), element by element; `derivative(x, y, dy)` is what x's gradient receives.
template <class F, class Derivative, Backend B>
Variable<B> unary(const Variable<B>& x, F f, Derivative derivative) {
  using T = typename B::Scalar;
  const Variable<B> y = x.tape->variable(x.shape);
  detail::map_elements<B>(x.size(), f, Store<T>{y.value}, detail::input(x.value));
  if (x.gradient)
    x.tape->record([=] {
      detail::map_elements<B>(x.size(), derivative, Add<T>{x.gradient}, detail::input(x.value),
                              detail::input(y.value), detail::input(y.gradient));
    });
  return y;
}

/// y = f(a, b), element by element, where b has a's shape or is one row that every row of a meets;
/// the derivatives take (a, b, dy).
template <class F, class DerivativeA, class DerivativeB, Backend A, Backend B>
Variable<A> binary(std::string_view where, const Variable<A>& a, const Variable<B>& b, F f, DerivativeA da,
                   DerivativeB db) {
  detail::require_same_tape(where, a, b);
  if constexpr (std::same_as<A, B>) {
    using T = typename B::Scalar;
    const bool broadcast = a.shape != b.shape;
    if (broadcast && (b.rows() != 1 || b.cols() != a.cols()))
      fail(where, "two of one shape, or " + a.shape.text() + " and a row of " + detail::text(a.cols()),
           b.shape.text());
    const std::size_t cols = a.cols(), stride = broadcast ? 0 : cols;
    const Variable<B> y = a.tape->variable(a.shape);
    B::for_rows(a.rows(), detail::BinaryRow<F, T>{f, cols, stride, y.value, a.value, b.value});
    if (a.gradient || b.gradient)
      a.tape->record([=] {
        if (a.gradient)
          B::for_rows(a.rows(), detail::BinaryAdjointRow<DerivativeA, T>{da, cols, stride, cols, a.gradient,
                                                                         a.value, b.value, y.gradient});
        if (b.gradient)
          B::for_rows(a.rows(), detail::BinaryAdjointRow<DerivativeB, T>{db, cols, stride, stride, b.gradient,
                                                                         a.value, b.value, y.gradient});
      });
    return y;
  }
}

namespace pointwise {

// Derivatives of unary functions, from x, y = f(x) and dy.
struct TanhDerivative {
  template <class V>
  BAHDANAU_HOST_DEVICE V operator()(V, V y, V dy) const {
    return dy * (V(1) - y * y);
  }
};
struct SigmoidDerivative {
  template <class V>
  BAHDANAU_HOST_DEVICE V operator()(V, V y, V dy) const {
    return dy * y * (V(1) - y);
  }
};
struct ExpDerivative {
  template <class V>
  BAHDANAU_HOST_DEVICE V operator()(V, V y, V dy) const {
    return dy * y;
  }
};
struct LogDerivative {
  template <class V>
  BAHDANAU_HOST_DEVICE V operator()(V x, V, V dy) const {
    return dy / x;
  }
};
/// y = s x + t.
template <class T>
struct Affine {
  T scale, shift;
  template <class V>
  BAHDANAU_HOST_DEVICE V operator()(V x) const {
    return V(scale) * x + V(shift);
  }
};
template <class T>
struct AffineDerivative {
  T scale;
  template <class V>
  BAHDANAU_HOST_DEVICE V operator()(V, V, V dy) const {
    return V(scale) * dy;
  }
};

// Derivatives of binary functions, from a, b and dy.
struct PassDerivative {
  template <class V>
  BAHDANAU_HOST_DEVICE V operator()(V, V, V dy) const {
    return dy;
  }
};
struct NegativeDerivative {
  template <class V>
  BAHDANAU_HOST_DEVICE V operator()(V, V, V dy) const {
    return -dy;
  }
};
struct TimesDerivativeA {
  template <class V>
  BAHDANAU_HOST_DEVICE V operator()(V, V b, V dy) const {
    return dy * b;
  }
};
struct TimesDerivativeB {
  template <class V>
  BAHDANAU_HOST_DEVICE V operator()(V a, V, V dy) const {
    return dy * a;
  }
};
struct DivideDerivativeA {
  template <class V>
  BAHDANAU_HOST_DEVICE V operator()(V, V b, V dy) const {
    return dy / b;
  }
};
struct DivideDerivativeB {
  template <class V>
  BAHDANAU_HOST_DEVICE V operator()(V a, V b, V dy) const {
    return -dy * a / (b * b);
  }
};

}  // namespace pointwise

/// y = tanh x; dx = dy (1 - y²).
template <Backend B>
Variable<B> tanh(const Variable<B>& x) {
  return unary(x, pointwise::Tanh{}, pointwise::TanhDerivative{});
}
/// y = 1 / (1 + e^-x); dx = dy y (1 - y).
template <Backend B>
Variable<B> sigmoid(const Variable<B>& x) {
  return unary(x, pointwise::Sigmoid{}, pointwise::SigmoidDerivative{});
}
/// y = e^x; dx = dy y.
template <Backend B>
Variable<B> exp(const Variable<B>& x) {
  return unary(x, pointwise::Exp{}, pointwise::ExpDerivative{});
}
/// y = ln x; dx = dy / x.
template <Backend B>
Variable<B> log(const Variable<B>& x) {
  return unary(x, pointwise::Log{}, pointwise::LogDerivative{});
}
/// y = scale · x + shift; dx = scale · dy.
template <Backend B>
Variable<B> affine(const Variable<B>& x, typename B::Scalar scale, typename B::Scalar shift) {
  using T = typename B::Scalar;
  return unary(x, pointwise::Affine<T>{scale, shift}, pointwise::AffineDerivative<T>{scale});
}

/// y = a + b, where b may be one row for all rows of a; da = dy, db = dy.
template <Backend A, Backend B>
Variable<A> operator+(const Variable<A>& a, const Variable<B>& b) {
  return binary("operator+", a, b, pointwise::Plus{}, pointwise::PassDerivative{},
                pointwise::PassDerivative{});
}
/// y = a - b; da = dy, db = -dy.
template <Backend A, Backend B>
Variable<A> operator-(const Variable<A>& a, const Variable<B>& b) {
  return binary("operator-", a, b, pointwise::Minus{}, pointwise::PassDerivative{},
                pointwise::NegativeDerivative{});
}
/// y = a ⊙ b, element by element; da = dy ⊙ b, db = dy ⊙ a.
template <Backend A, Backend B>
Variable<A> operator*(const Variable<A>& a, const Variable<B>& b) {
  return binary("operator*", a, b, pointwise::Times{}, pointwise::TimesDerivativeA{},
                pointwise::TimesDerivativeB{});
}
/// y = a / b, element by element; da = dy / b, db = -dy a / b².
template <Backend A, Backend B>
Variable<A> operator/(const Variable<A>& a, const Variable<B>& b) {
  return binary("operator/", a, b, pointwise::Divide{}, pointwise::DivideDerivativeA{},
                pointwise::DivideDerivativeB{});
}
template <Backend B>
Variable<B> operator-(const Variable<B>& x) {
  return affine(x, typename B::Scalar(-1), typename B::Scalar(0));
}
template <Backend B>
Variable<B> operator*(typename B::Scalar scale, const Variable<B>& x) {
  return affine(x, scale, typename B::Scalar(0));
}

}  // namespace bahdanau
