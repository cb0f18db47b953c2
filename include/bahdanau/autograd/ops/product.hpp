// Matrix products: plain, batched, and the linear map y = x Wᵀ + b of every layer.
// The gradient of a weight is put off until the tape was played, so all steps share one product.
#pragma once

#include <cstddef>

#include <bahdanau/autograd/ops/common.hpp>
#include <bahdanau/autograd/ops/shape.hpp>

namespace bahdanau {

/// y = a b: a [m, k], b [k, n], y [m, n]. da = dy bᵀ, db = aᵀ dy.
template <Backend B>
Variable<B> matmul(const Variable<B>& a, const Variable<B>& b) {
  using T = typename B::Scalar;
  detail::require_same_tape("matmul", a, b);
  detail::require_matrix("matmul", "a", a);
  detail::require_matrix("matmul", "b", b);
  const std::size_t m = a.shape[0], k = a.shape[1], n = b.shape[1];
  if (b.shape[0] != k) fail("matmul", "b with " + detail::text(k) + " rows", b.shape.text());
  const Variable<B> y = a.tape->variable({m, n});
  B::gemm(Transpose::no, Transpose::no, m, n, k, T(1), a.value, k, b.value, n, T(0), y.value, n);
  if (a.gradient || b.gradient)
    a.tape->record([=] {
      // y = a b  =>  da += dy bᵀ
      if (a.gradient)
        B::gemm(Transpose::no, Transpose::yes, m, k, n, T(1), y.gradient, n, b.value, n, T(1), a.gradient, k);
      // y = a b  =>  db += aᵀ dy
      if (b.gradient)
        B::gemm(Transpose::yes, Transpose::no, k, n, m, T(1), a.value, k, y.gradient, n, T(1), b.gradient, n);
    });
  return y;
}

/// y_i = a_i op(b_i) for each i: a [batch, m, k], op(b) [batch, k, n], y [batch, m, n].
/// With `Transpose::yes`, b is [batch, n, k].
template <Backend B>
Variable<B> batched_matmul(const Variable<B>& a, const Variable<B>& b,
                           Transpose transpose_b = Transpose::no) {
  using T = typename B::Scalar;
  detail::require_same_tape("batched_matmul", a, b);
  if (a.shape.rank() != 3) fail("batched_matmul", "a of rank 3", a.shape.text());
  if (b.shape.rank() != 3) fail("batched_matmul", "b of rank 3", b.shape.text());
  const bool turned = transpose_b == Transpose::yes;
  const std::size_t count = a.shape[0], m = a.shape[1], k = a.shape[2];
  const std::size_t n = b.shape[turned ? 1 : 2], ldb = b.shape[2];
  detail::require_shape("batched_matmul", "b", turned ? Shape{count, n, k} : Shape{count, k, n}, b.shape);
  const Variable<B> y = a.tape->variable({count, m, n});
  B::gemm_batched(Transpose::no, transpose_b, m, n, k, T(1), a.value, k, m * k, b.value, ldb, k * n, T(0),
                  y.value, n, m * n, count);
  if (a.gradient || b.gradient)
    a.tape->record([=] {
      // y = a op(b)  =>  da += dy op(b)ᵀ
      if (a.gradient)
        B::gemm_batched(Transpose::no, turned ? Transpose::no : Transpose::yes, m, k, n, T(1), y.gradient, n,
                        m * n, b.value, ldb, k * n, T(1), a.gradient, k, m * k, count);
      // y = a b  =>  db += aᵀ dy;   y = a bᵀ  =>  db += dyᵀ a
      if (b.gradient && !turned)
        B::gemm_batched(Transpose::yes, Transpose::no, k, n, m, T(1), a.value, k, m * k, y.gradient, n, m * n,
                        T(1), b.gradient, n, k * n, count);
      if (b.gradient && turned)
        B::gemm_batched(Transpose::yes, Transpose::no, n, k, m, T(1), y.gradient, n, m * n, a.value, k, m * k,
                        T(1), b.gradient, k, k * n, count);
    });
  return y;
}

/// What becomes of the result of a linear map: `overwritten` and `used_up` promise one consumer that may
/// write over it and whose adjoint stores the gradient there (`Variable::used_up`); the latter lie in a lane.
enum class Result { fresh, overwritten, used_up };

namespace detail {

template <class T>
struct FillRow {
  T* out;
  const T* row;
  std::size_t cols, stride;
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t r) const {
    lanes.map(cols, pointwise::Identity{}, Store<T>{out + r * stride}, row);
  }
};

/// What a product with a weight is added to.
enum class Onto { nothing, bias, result };

/// x [rows, any], rows `stride` apart.
template <class T>
struct ProductRows {
  const T* data;
  std::size_t rows, stride;
};

/// y = x op(W) + what `onto` says: x [rows, k], op(W) [k, n], y [rows, n], rows `stride` apart, bias [n].
template <Backend B>
void multiply(const WeightMatrix<B>& w, const ProductRows<typename B::Scalar>& x, Onto onto,
              const typename B::Scalar* bias, typename B::Scalar* y, std::size_t stride) {
  using T = typename B::Scalar;
  if (PackedProducts<B>::packs()) {
    const auto* addend = onto == Onto::bias ? bias : onto == Onto::result ? y : nullptr;
    PackedProducts<B>::multiply_once(w.op, x.rows, w.n, w.k, x.data, x.stride, w.data, w.stride, addend,
                                     onto == Onto::result ? stride : 0, y, stride);
  } else {
    if (onto == Onto::bias) B::for_rows(x.rows, FillRow<T>{y, bias, w.n, stride});
    B::gemm(Transpose::no, w.op, x.rows, w.n, w.k, T(1), x.data, x.stride, w.data, w.stride,
            T(onto != Onto::nothing), y, stride);
  }
}

/// The same for `count` columns from `first` on of a weight that the backend has packed.
template <Backend B>
void multiply_packed(const WeightMatrix<B>& w, const typename B::Scalar* packed, std::size_t first,
                     std::size_t count, const ProductRows<typename B::Scalar>& x, Onto onto,
                     const typename B::Scalar* bias, typename B::Scalar* y) {
  const auto* addend = onto == Onto::bias ? bias : onto == Onto::result ? y : nullptr;
  PackedProducts<B>::multiply(x.rows, count, w.k, x.data, x.stride, packed + first * w.k,
                              addend ? addend + first : nullptr, onto == Onto::result ? w.n : 0, y + first,
                              w.n);
}

/// Some columns of op(W).
template <Backend B>
WeightMatrix<B> columns_of(const WeightMatrix<B>& w, std::size_t first, std::size_t count) {
  return {w.data + (w.op == Transpose::yes ? first * w.stride : first), w.k, count, w.stride, w.op};
}

/// The same with the weights that the tape is bound to.
///
/// With a packed weight where the tape has one. Without one where a pass that is recorded multiplies many
/// rows at once: a product of its own is as fast there, and a packed copy of such a weight is used once.
template <Backend B>
void multiply_weight(Tape<B>& tape, const WeightMatrix<B>& w, const ProductRows<typename B::Scalar>& x,
                     Onto onto, const typename B::Scalar* bias, typename B::Scalar* y) {
  if (PackedProducts<B>::packs()) {
    constexpr std::size_t many_rows = 256, deep = 128;
    const bool once = tape.recording() && x.rows >= many_rows && w.k >= deep;
    if (const auto* packed = !once ? tape.weights().packed(w) : nullptr) {
      tape.weights().share_columns(w, [&](std::size_t first, std::size_t count) {
        multiply_packed<B>(w, packed, first, count, x, onto, bias, y);
      });
      return;
    }
  }
  if (!PackedProducts<B>::packs() && !SpreadingBackend<B> && !tape.recording()) {
    tape.weights().share_columns(w, [&](std::size_t first, std::size_t count) {
      multiply<B>(columns_of(w, first, count), x, onto, bias ? bias + first : nullptr, y + first, w.n);
    });
    return;
  }
  multiply<B>(w, x, onto, bias, y, w.n);
}

/// All rows of a variable.
template <Backend B>
ProductRows<typename B::Scalar> product_rows(const typename B::Scalar* data, const Variable<B>& shaped) {
  return {data, shaped.rows(), shaped.cols()};
}

/// `multiply_weight` for a variable: of rows that are shared, each is multiplied once.
template <Backend B>
void multiply_weight(Tape<B>& tape, const WeightMatrix<B>& w, const Variable<B>& x, Onto onto,
                     const typename B::Scalar* bias, typename B::Scalar* y) {
  using T = typename B::Scalar;
  if (x.shared == nullptr) return multiply_weight<B>(tape, w, product_rows<B>(x.value, x), onto, bias, y);
  const auto& [value, count, row] = *x.shared;
  T* products = tape.constant({count, w.n}).value;
  multiply_weight<B>(tape, w, ProductRows<T>{value, count, x.cols()},
                     onto == Onto::bias ? Onto::bias : Onto::nothing, bias, products);
  if (onto == Onto::result)
    B::for_rows(x.rows(), GatherRow<Add, T>{y, products, row, w.n});
  else
    B::for_rows(x.rows(), GatherRow<Store, T>{y, products, row, w.n});
}

/// Products with one weight share a lane where gradients of the weights are put off.
template <Backend B>
Lane<B> product_lane(const Variable<B>& w, std::size_t first, Result result = Result::fresh) {
  using Kind = typename Lane<B>::Kind;
  return {w.gradient.is_own() ? w.value + first : nullptr,
          result == Result::used_up ? Kind::used_up : Kind::product};
}

/// Wᵀ for y = x W'ᵀ, W' being the columns of W from `first` on that x meets.
template <Backend B>
WeightMatrix<B> forward_weight(const Variable<B>& w, std::size_t first, std::size_t inputs) {
  return {w.value + first, inputs, w.rows(), w.cols(), Transpose::yes};
}
/// W for dx = dy W'.
template <Backend B>
WeightMatrix<B> adjoint_weight(const Variable<B>& w, std::size_t first, std::size_t inputs) {
  return {w.value + first, w.rows(), inputs, w.cols(), Transpose::no};
}

/// What dy [rows, outputs] says of y += x W'ᵀ + b, where W' is W's columns first, ..., first + inputs - 1; b
/// may be a constant.
template <Backend B>
void linear_adjoint(const ProductRows<typename B::Scalar>& dy, const Variable<B>& x, const Variable<B>& w,
                    std::size_t first, const Variable<B>& b) {
  using T = typename B::Scalar;
  Tape<B>& tape = *x.tape;
  const std::size_t inputs = x.cols(), outputs = w.rows(), stride = w.cols();
  // y = x W'ᵀ  =>  dx += dy W'
  if (x.gradient)
    multiply_weight<B>(tape, adjoint_weight(w, first, inputs), dy, x.passed_on ? Onto::nothing : Onto::result,
                       nullptr, x.gradient);
  // y = x W'ᵀ + b  =>  dW' += dyᵀ x, db += Σ dy: put off to the end for a leaf, at once for what an earlier
  // adjoint reads
  const auto place = [&](const Variable<B>& v, std::size_t offset, bool later) -> T* {
    if (!v.gradient || v.leaf != later) return nullptr;
    return (later ? tape.weights().deferred_place(v) : static_cast<T*>(v.gradient)) + offset;
  };
  const auto use = [&](bool later) {
    return WeightGradient<B>{place(w, first, later),
                             place(b, 0, later),
                             x.value,
                             dy.data,
                             dy.rows,
                             inputs,
                             outputs,
                             stride,
                             dy.stride,
                             0};
  };
  tape.defer(use(true));
  const WeightGradient<B> now = use(false);
  now.add_to_weight(0, outputs);
  now.add_to_bias();
}

/// Records the adjoint of y += x W'ᵀ + b.
template <Backend B>
void record_linear(const Variable<B>& y, const Variable<B>& x, const Variable<B>& w, std::size_t first,
                   const Variable<B>& b = {}) {
  if (!x.gradient && !w.gradient && !b.gradient) return;
  auto* lasting = y.passing ? y.tape->lasting_room(y.size()) : nullptr;
  x.tape->record([=] {
    const typename B::Scalar* dy = y.gradient;
    if (lasting != nullptr) B::copy(dy, y.size(), lasting);
    linear_adjoint<B>(product_rows<B>(lasting != nullptr ? lasting : dy, y), x, w, first, b);
  });
}

template <Backend B>
void require_linear(std::string_view where, const Variable<B>& x, const Variable<B>& w, std::size_t first) {
  require_same_tape(where, x, w);
  require_matrix(where, "weight", w);
  if (first > w.cols() || x.cols() > w.cols() - first)
    fail(where, "x that fits columns " + text(first) + " on of a weight " + w.shape.text(), x.shape.text());
}

/// Room for y = x W'ᵀ.
template <Backend B>
Variable<B> product_result(const Variable<B>& x, const Variable<B>& w, std::size_t first, Result result) {
  const Shape shape{x.rows(), w.rows()};
  if (result == Result::overwritten) return x.tape->overwritten(shape);
  return x.tape->variable(shape, product_lane(w, first, result));
}

}  // namespace detail

/// y = x Wᵀ: x [rows, inputs], W [outputs, inputs], y [rows, outputs].
template <Backend B>
Variable<B> linear(const Variable<B>& x, const Variable<B>& w, Result result = Result::fresh) {
  detail::require_same_tape("linear", x, w);
  detail::require_matrix("linear", "weight", w);
  if (x.cols() != w.cols()) fail("linear", "x of width " + detail::text(w.cols()), x.shape.text());
  const Variable<B> y = detail::product_result(x, w, 0, result);
  detail::multiply_weight<B>(*x.tape, detail::forward_weight(w, 0, x.cols()), x, detail::Onto::nothing,
                             nullptr, y.value);
  detail::record_linear<B>(y, x, w, 0);
  return y;
}

/// y = x W'ᵀ + b, where W' [outputs, inputs] is the block of W's columns that starts at `first`; b [outputs].
template <Backend B>
Variable<B> linear_columns(const Variable<B>& x, const Variable<B>& w, const Variable<B>& b,
                           std::size_t first, Result result = Result::fresh) {
  detail::require_linear("linear", x, w, first);
  detail::require_same_tape("linear", x, b);
  if (b.size() != w.rows()) fail("linear", "a bias of " + detail::text(w.rows()), b.shape.text());
  const Variable<B> y = detail::product_result(x, w, first, result);
  detail::multiply_weight<B>(*x.tape, detail::forward_weight(w, first, x.cols()), x, detail::Onto::bias,
                             b.value, y.value);
  detail::record_linear<B>(y, x, w, first, b);
  return y;
}

/// y = x Wᵀ + b: x [rows, inputs], W [outputs, inputs], b [outputs], y [rows, outputs].
template <Backend B>
Variable<B> linear(const Variable<B>& x, const Variable<B>& w, const Variable<B>& b,
                   Result result = Result::fresh) {
  if (x.cols() != w.cols()) fail("linear", "x of width " + detail::text(w.cols()), x.shape.text());
  return linear_columns(x, w, b, 0, result);
}

/// y += x W'ᵀ in place, W' the block of W's columns that starts at `first`. Whatever computed y receives y's
/// gradient as it is, so y's earlier value must not be needed by any adjoint: true for a `linear` result.
template <Backend B>
void add_linear(const Variable<B>& y, const Variable<B>& x, const Variable<B>& w, std::size_t first = 0) {
  detail::require_linear("add_linear", x, w, first);
  detail::require_same_tape("add_linear", x, y);
  detail::require_shape("add_linear", "y", {x.rows(), w.rows()}, y.shape);
  detail::multiply_weight<B>(*x.tape, detail::forward_weight(w, first, x.cols()), x, detail::Onto::result,
                             nullptr, y.value);
  detail::record_linear<B>(y, x, w, first);
}

}  // namespace bahdanau
