// Pointwise operations: functions of one array, and of two of the same shape or one with a row or a column.
// Each is a functor and its derivatives; the launch and the adjoint are written once.
#pragma once

#include <cstddef>

#include <bahdanau/autograd/ops/common.hpp>

namespace bahdanau {

namespace detail {

/// How b meets a [rows, cols]: element by element or as one row for all, with rows `stride` apart, or as a
/// column.
template <class T>
struct Operand {
  const T* data;
  std::size_t stride;
  bool column;
};

template <class F, class T>
struct BinaryRow {
  F f;
  std::size_t cols;
  T* out;
  const T* a;
  Operand<T> b;
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t r) const {
    const Store<T> y{out + r * cols};
    if (b.column)
      lanes.map(cols, f, y, a + r * cols, b.data[r]);
    else
      lanes.map(cols, f, y, a + r * cols, b.data + r * b.stride);
  }
};

/// What the gradient of a receives; or that of b, if it is no column: its rows are `out_stride` apart.
template <class F, class T>
struct BinaryAdjointRow {
  F derivative;
  std::size_t cols, out_stride;
  T* out;
  const T* a;
  Operand<T> b;
  const T* dy;
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t r) const {
    const AddShared<T> gradient{out + r * out_stride};
    if (b.column)
      lanes.map(cols, derivative, gradient, a + r * cols, b.data[r], dy + r * cols);
    else
      lanes.map(cols, derivative, gradient, a + r * cols, b.data + r * b.stride, dy + r * cols);
  }
};

/// What the gradient of a column receives: a sum for each row.
template <class F, class T>
struct ColumnAdjointRow {
  F derivative;
  std::size_t cols;
  T* out;
  const T* a;
  const T* b;
  const T* dy;
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t r) const {
    const T total = lanes.sum(cols, derivative, a + r * cols, b[r], dy + r * cols);
    if (lanes.owns(0)) out[r] += total;
  }
};

}  // namespace detail

/// y = f(x), element by element; `derivative(x, y, dy)` is what x's gradient receives.
template <class F, class Derivative, Backend B>
Variable<B> unary(const Variable<B>& x, F f, Derivative derivative, std::string_view name = "unary") {
  using T = typename B::Scalar;
  detail::require_made(name, x);
  const Variable<B> y = x.tape->variable(x.shape);
  detail::map_elements<B>(x.size(), f, Store<T>{y.value}, detail::input(x.value));
  x.tape->record({name, {x}, {y}, {x, y}}, [=](Gradients<B>& d) {
    detail::map_elements<B>(x.size(), derivative, Add<T>{d.to(x)}, detail::input(x.value),
                            detail::input(y.value), d.of(y));
  });
  return y;
}

/// y = f(a, b), element by element, where b has a's shape, is one row that every row of a meets, or a column
/// [rows, 1] that every column of a meets; the derivatives take (a, b, dy).
template <class F, class DerivativeA, class DerivativeB, Backend A, Backend B>
Variable<A> binary(std::string_view where, const Variable<A>& a, const Variable<B>& b, F f, DerivativeA da,
                   DerivativeB db) {
  detail::require_same_tape(where, a, b);
  if constexpr (std::same_as<A, B>) {
    using T = typename B::Scalar;
    const std::size_t rows = a.rows(), cols = a.cols();
    const bool equal = a.shape == b.shape, row = b.rows() == 1 && b.cols() == cols;
    const bool column = !equal && !row && b.shape.rank() > 1 && b.rows() == rows && b.cols() == 1;
    if (!equal && !row && !column)
      fail(where,
           "two of one shape, or " + a.shape.text() + " and a row of " + detail::text(cols) +
               " or a column [" + detail::text(rows) + ", 1]",
           b.shape.text(),
           b.size() == rows ? "a column is made by reshape({" + detail::text(rows) + ", 1})" : "");
    const detail::Operand<T> operand{b.value, equal ? cols : 0, column};
    const Variable<B> y = a.tape->variable(a.shape);
    B::for_rows(rows, detail::BinaryRow<F, T>{f, cols, y.value, a.value, operand});
    a.tape->record({where, {a, b}, {y}, {a, b}}, [=](Gradients<B>& d) {
      const T* dy = d.of(y);
      if (d.wants(a))
        B::for_rows(rows,
                    detail::BinaryAdjointRow<DerivativeA, T>{da, cols, cols, d.to(a), a.value, operand, dy});
      if (d.wants(b) && column)
        B::for_rows(rows, detail::ColumnAdjointRow<DerivativeB, T>{db, cols, d.to(b), a.value, b.value, dy});
      else if (d.wants(b))
        B::for_rows(rows, detail::BinaryAdjointRow<DerivativeB, T>{db, cols, operand.stride, d.to(b), a.value,
                                                                   operand, dy});
    });
    return y;
  }
}

namespace pointwise {

// Derivatives of unary functions, from x, y = f(x) and dy.
struct TanhDerivative {
  template <class V>
  BAHDANAU_HOST_DEVICE V operator()(V, V y, V dy) const {
    return dy * pointwise::multiply_add(-y, y, V(1));
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
struct SqrtDerivative {
  template <class V>
  BAHDANAU_HOST_DEVICE V operator()(V, V y, V dy) const {
    return dy / (y + y);
  }
};
struct ReciprocalDerivative {
  template <class V>
  BAHDANAU_HOST_DEVICE V operator()(V, V y, V dy) const {
    return -dy * y * y;
  }
};
/// y = s x + t.
template <class T>
struct Affine {
  T scale, shift;
  template <class V>
  BAHDANAU_HOST_DEVICE V operator()(V x) const {
    return pointwise::multiply_add(V(scale), x, V(shift));
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
struct MaximumDerivativeA {
  template <class V>
  BAHDANAU_HOST_DEVICE V operator()(V a, V b, V dy) const {
    return select(a > b, dy, select(a == b, dy / V(2), V(0)));
  }
};
struct MaximumDerivativeB {
  template <class V>
  BAHDANAU_HOST_DEVICE V operator()(V a, V b, V dy) const {
    return select(b > a, dy, select(a == b, dy / V(2), V(0)));
  }
};

}  // namespace pointwise

/// y = tanh x; dx = dy (1 - y²).
template <Backend B>
Variable<B> tanh(const Variable<B>& x) {
  return unary(x, pointwise::Tanh{}, pointwise::TanhDerivative{}, "tanh");
}
/// y = 1 / (1 + e^-x); dx = dy y (1 - y).
template <Backend B>
Variable<B> sigmoid(const Variable<B>& x) {
  return unary(x, pointwise::Sigmoid{}, pointwise::SigmoidDerivative{}, "sigmoid");
}
/// y = e^x; dx = dy y.
template <Backend B>
Variable<B> exp(const Variable<B>& x) {
  return unary(x, pointwise::Exp{}, pointwise::ExpDerivative{}, "exp");
}
/// y = ln x; dx = dy / x.
template <Backend B>
Variable<B> log(const Variable<B>& x) {
  return unary(x, pointwise::Log{}, pointwise::LogDerivative{}, "log");
}
/// y = √x; dx = dy / 2y: infinite at 0.
template <Backend B>
Variable<B> sqrt(const Variable<B>& x) {
  return unary(x, pointwise::Sqrt{}, pointwise::SqrtDerivative{}, "sqrt");
}
/// y = 1 / x; dx = -dy y².
template <Backend B>
Variable<B> reciprocal(const Variable<B>& x) {
  return unary(x, pointwise::Reciprocal{}, pointwise::ReciprocalDerivative{}, "reciprocal");
}
/// y = scale · x + shift; dx = scale · dy.
template <Backend B>
Variable<B> affine(const Variable<B>& x, typename B::Scalar scale, typename B::Scalar shift) {
  using T = typename B::Scalar;
  return unary(x, pointwise::Affine<T>{scale, shift}, pointwise::AffineDerivative<T>{scale}, "affine");
}

// In functions of two arrays b may be one row for all rows of a, or a column [rows, 1] for all of its
// columns; its gradient is then the sum over what it met.

/// y = a + b; da = dy, db = dy.
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
/// y = max(a, b), element by element; dy goes to the larger one, and half of it to each where they are equal.
template <Backend A, Backend B>
Variable<A> maximum(const Variable<A>& a, const Variable<B>& b) {
  return binary("maximum", a, b, pointwise::Maximum{}, pointwise::MaximumDerivativeA{},
                pointwise::MaximumDerivativeB{});
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
