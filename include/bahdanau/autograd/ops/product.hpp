// Matrix products: plain, batched, and the linear map y = x Wᵀ + b of every layer.
// The gradient of a weight comes after all adjoints, so that the steps of a loop share one product.
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
  a.tape->record({"matmul", {a, b}, {y}, {a, b}}, [=](Gradients<B>& d) {
    const T* dy = d.of(y);
    // y = a b  =>  da += dy bᵀ
    if (d.wants(a))
      B::gemm(Transpose::no, Transpose::yes, m, k, n, T(1), dy, n, b.value, n, T(1), d.to(a), k);
    // y = a b  =>  db += aᵀ dy
    if (d.wants(b))
      B::gemm(Transpose::yes, Transpose::no, k, n, m, T(1), a.value, k, dy, n, T(1), d.to(b), n);
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
  a.tape->record({"batched_matmul", {a, b}, {y}, {a, b}}, [=](Gradients<B>& d) {
    const T* dy = d.of(y);
    // y = a op(b)  =>  da += dy op(b)ᵀ
    if (d.wants(a))
      B::gemm_batched(Transpose::no, turned ? Transpose::no : Transpose::yes, m, k, n, T(1), dy, n, m * n,
                      b.value, ldb, k * n, T(1), d.to(a), k, m * k, count);
    // y = a b  =>  db += aᵀ dy;   y = a bᵀ  =>  db += dyᵀ a
    if (d.wants(b) && !turned)
      B::gemm_batched(Transpose::yes, Transpose::no, k, n, m, T(1), a.value, k, m * k, dy, n, m * n, T(1),
                      d.to(b), n, k * n, count);
    if (d.wants(b) && turned)
      B::gemm_batched(Transpose::yes, Transpose::no, n, k, m, T(1), dy, n, m * n, a.value, k, m * k, T(1),
                      d.to(b), k, k * n, count);
  });
  return y;
}

namespace detail {

/// What a product with a weight is added to: nothing, a row for all rows (stride 0), or the result itself.
template <class T>
struct Addend {
  const T* data = nullptr;
  std::size_t stride = 0;
};

/// x [rows, any], rows `stride` apart.
template <class T>
struct ProductRows {
  const T* data;
  std::size_t rows, stride;
};

/// y = x op(W) + addend: x [rows, k], op(W) [k, n], y [rows, n], rows `stride` apart; the weight as it lies.
template <Backend B>
void multiply(const WeightMatrix<B>& w, const ProductRows<typename B::Scalar>& x,
              Addend<typename B::Scalar> addend, typename B::Scalar* y, std::size_t stride) {
  using T = typename B::Scalar;
  if constexpr (PackingBackend<B>)
    if (B::packs())
      return B::gemm_once(w.op, x.rows, w.n, w.k, x.data, x.stride, w.data, w.stride, addend.data,
                          addend.stride, y, stride);
  if (addend.data != nullptr && addend.data != y)
    B::for_rows(x.rows, ColumnsRow<Store, T>{y, addend.data, w.n, stride, 0});
  B::gemm(Transpose::no, w.op, x.rows, w.n, w.k, T(1), x.data, x.stride, w.data, w.stride,
          T(addend.data != nullptr), y, stride);
}

/// The same with the weights that the tape is bound to: packed where the tape has them so. Not where a pass
/// that is recorded multiplies many rows at once: a product of its own is as fast there, and a packed copy of
/// such a weight is used once.
template <Backend B>
void multiply_weight(Tape<B>& tape, const WeightMatrix<B>& w, const ProductRows<typename B::Scalar>& x,
                     Addend<typename B::Scalar> addend, typename B::Scalar* y) {
  if constexpr (PackingBackend<B>) {
    constexpr std::size_t many_rows = 256, deep = 128;
    const bool once = tape.recording() && x.rows >= many_rows && w.k >= deep;
    if (const auto* packed = B::packs() && !once ? tape.weights().packed(w) : nullptr) {
      if (!tape.weights().has_helpers())
        return B::gemm_packed(x.rows, w.n, w.k, x.data, x.stride, packed, addend.data, addend.stride, y, w.n);
      return tape.weights().share_columns(w, [&](std::size_t first, std::size_t count) {
        B::gemm_packed(x.rows, count, w.k, x.data, x.stride, packed + first * w.k,
                       addend.data ? addend.data + first : nullptr, addend.stride, y + first, w.n);
      });
    }
  }
  if (!PackedProducts<B>::packs() && !SpreadingBackend<B> && !tape.recording())
    return tape.weights().share_columns(w, [&](std::size_t first, std::size_t count) {
      const WeightMatrix<B> part{w.data + (w.op == Transpose::yes ? first * w.stride : first), w.k, count,
                                 w.stride, w.op};
      multiply<B>(part, x, {addend.data ? addend.data + first : nullptr, addend.stride}, y + first, w.n);
    });
  multiply<B>(tape.weights().readable(w), x, addend, y, w.n);
}

/// W' of W, its columns from `first` on that x meets, as x W'ᵀ has it.
template <Backend B>
WeightMatrix<B> columns_for(const Variable<B>& x, const Variable<B>& w, std::size_t first) {
  return {w.value + first, x.cols(), w.rows(), w.cols(), Transpose::yes};
}

/// y = x W'ᵀ + addend for a variable, W' being the columns of W from `first` on that x meets: of rows that
/// are shared, each is multiplied once.
template <Backend B>
void multiply_rows(const Variable<B>& x, const Variable<B>& w, std::size_t first,
                   Addend<typename B::Scalar> addend, typename B::Scalar* y) {
  using T = typename B::Scalar;
  Tape<B>& tape = *x.tape;
  const WeightMatrix<B> matrix = columns_for(x, w, first);
  if (x.shared == nullptr) return multiply_weight<B>(tape, matrix, {x.value, x.rows(), x.cols()}, addend, y);
  const SharedRows<B>& shared = *x.shared;
  T* products = tape.constant({shared.count, matrix.n}).value;
  const bool onto = addend.data != nullptr && addend.stride != 0;
  multiply_weight<B>(tape, matrix, {shared.value, shared.count, x.cols()}, onto ? Addend<T>{} : addend,
                     products);
  if (onto)
    B::for_rows(x.rows(), GatherRow<Add, T>{y, products, shared.row, matrix.n});
  else
    B::for_rows(x.rows(), GatherRow<Store, T>{y, products, shared.row, matrix.n});
}

/// y = x W'ᵀ + b  =>  dx += dy W', from dy [rows, outputs].
template <Backend B>
void add_to_input(Gradients<B>& d, const ProductRows<typename B::Scalar>& dy, const Variable<B>& x,
                  const Variable<B>& w, std::size_t first) {
  if (!d.wants(x)) return;
  const auto [dx, empty] = d.target(x);
  const WeightMatrix<B> matrix{w.value + first, w.rows(), x.cols(), w.cols(), Transpose::no};
  multiply_weight<B>(*x.tape, matrix, dy, {empty ? nullptr : dx, x.cols()}, dx);
}

/// Records the adjoint of y += x W'ᵀ + b, where W' is W's columns from `first` on; b may be absent.
template <Backend B>
void record_linear(std::string_view name, const Variable<B>& y, const Variable<B>& x, const Variable<B>& w,
                   std::size_t first, const Variable<B>& b = {}) {
  using T = typename B::Scalar;
  Tape<B>& tape = *x.tape;
  if (!tape.recording()) return;
  // y = x W'ᵀ + b  =>  dW' += dyᵀ x, db += Σ dy: after all adjoints for a leaf, at once for what an earlier
  // adjoint reads
  const auto of_leaf = [&](Variable<B> v, bool leaf, std::size_t offset) {
    v.value += v.value ? offset : 0;
    return tape.is_leaf(v) == leaf ? v : Variable<B>{};
  };
  const Variable<B> later_w = of_leaf(w, true, first), later_b = of_leaf(b, true, 0);
  const Variable<B> now_w = of_leaf(w, false, 0), now_b = of_leaf(b, false, 0);
  tape.record({name, {x, w, b}, {y}, {x, w}}, [=](Gradients<B>& d) {
    const ProductRows<T> dy{d.of(y), y.rows(), y.cols()};
    add_to_input<B>(d, dy, x, w, first);
    if (d.wants(now_w))
      B::gemm(Transpose::yes, Transpose::no, w.rows(), x.cols(), dy.rows, T(1), dy.data, dy.stride, x.value,
              x.cols(), T(1), d.to(now_w) + first, w.cols());
    if (d.wants(now_b)) B::column_sum(dy.rows, w.rows(), dy.data, dy.stride, d.to(now_b));
  });
  tape.add_weight({later_w, later_b, x, y, w.rows(), w.cols(), 0});
}

/// Whether a product is recorded as that of the rows that x shares, so that its adjoint has as few.
template <Backend B>
bool records_shared(const Variable<B>& x) {
  return x.tape != nullptr && x.shared != nullptr && x.tape->recording();
}
/// Those rows.
template <Backend B>
Variable<B> shared_rows(const Variable<B>& x) {
  const SharedRows<B>& shared = *x.shared;
  return {x.tape, const_cast<typename B::Scalar*>(shared.value), {shared.count, x.cols()}, shared.array};
}
/// The result for x's rows from that for the rows which it shares.
template <Backend B>
Variable<B> for_sharing_rows(const Variable<B>& product, const Variable<B>& x, Result result) {
  Variable<B> y = gather_rows(product, x.shared->row, x.rows());
  y.given = result == Result::given;
  return y;
}

template <Backend B>
void require_linear(std::string_view where, const Variable<B>& x, const Variable<B>& w, std::size_t first) {
  require_same_tape(where, x, w);
  require_matrix(where, "weight", w);
  if (first > w.cols() || x.cols() > w.cols() - first)
    fail(where, "x that fits columns " + text(first) + " on of a weight " + w.shape.text(), x.shape.text());
}

}  // namespace detail

/// y = x W'ᵀ + b, where W' [outputs, inputs] is the block of W's columns that starts at `first`; b [outputs].
template <Backend B>
Variable<B> linear_columns(const Variable<B>& x, const Variable<B>& w, const Variable<B>& b,
                           std::size_t first, Result result = Result::kept) {
  if (detail::records_shared(x))
    return detail::for_sharing_rows(linear_columns(detail::shared_rows(x), w, b, first), x, result);
  detail::require_linear("linear", x, w, first);
  detail::require_same_tape("linear", x, b);
  if (b.size() != w.rows()) fail("linear", "a bias of " + detail::text(w.rows()), b.shape.text());
  const Variable<B> y = x.tape->variable({x.rows(), w.rows()}, result);
  if (x.shared == nullptr)
    detail::multiply_weight<B>(*x.tape, detail::columns_for(x, w, first), {x.value, x.rows(), x.cols()},
                               {b.value, 0}, y.value);
  else
    detail::multiply_rows<B>(x, w, first, {b.value, 0}, y.value);
  detail::record_linear<B>("linear", y, x, w, first, b);
  return y;
}

/// y = x W'ᵀ, where W' [outputs, inputs] is the block of W's columns that starts at `first`.
template <Backend B>
Variable<B> linear_columns(const Variable<B>& x, const Variable<B>& w, std::size_t first,
                           Result result = Result::kept) {
  if (detail::records_shared(x))
    return detail::for_sharing_rows(linear_columns(detail::shared_rows(x), w, first), x, result);
  detail::require_linear("linear", x, w, first);
  const Variable<B> y = x.tape->variable({x.rows(), w.rows()}, result);
  if (x.shared == nullptr)
    detail::multiply_weight<B>(*x.tape, detail::columns_for(x, w, first), {x.value, x.rows(), x.cols()}, {},
                               y.value);
  else
    detail::multiply_rows<B>(x, w, first, {}, y.value);
  detail::record_linear<B>("linear", y, x, w, first);
  return y;
}

/// y = x Wᵀ: x [rows, inputs], W [outputs, inputs], y [rows, outputs].
template <Backend B>
Variable<B> linear(const Variable<B>& x, const Variable<B>& w, Result result = Result::kept) {
  detail::require_same_tape("linear", x, w);
  if (x.cols() != w.cols()) fail("linear", "x of width " + detail::text(w.cols()), x.shape.text());
  return linear_columns(x, w, 0, result);
}

/// y = x Wᵀ + b: x [rows, inputs], W [outputs, inputs], b [outputs], y [rows, outputs].
template <Backend B>
Variable<B> linear(const Variable<B>& x, const Variable<B>& w, const Variable<B>& b,
                   Result result = Result::kept) {
  detail::require_same_tape("linear", x, w);
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
  if (!y.has_gradient() && (x.has_gradient() || w.has_gradient()))
    fail("add_linear", "a y with a gradient", "a constant", "make it with linear, or variable");
  if (detail::records_shared(x))
    return add_gathered_rows(y, linear_columns(detail::shared_rows(x), w, first), x.shared->row);
  detail::multiply_rows<B>(x, w, first, {y.value, y.cols()}, y.value);
  detail::record_linear<B>("add_linear", y, x, w, first);
}

// The same with parameters of the model that x's tape is bound to. Where the model is frozen, their numbers
// are there once, packed for products; `linear(x, tape[w])` computes the same, and keeps them twice.

template <Backend B>
Variable<B> linear(const Variable<B>& x, const Parameter& w, Result result = Result::kept) {
  detail::require_made("linear", x);
  return linear(x, x.tape->weight(w), result);
}
template <Backend B>
Variable<B> linear(const Variable<B>& x, const Parameter& w, const Parameter& b,
                   Result result = Result::kept) {
  detail::require_made("linear", x);
  return linear(x, x.tape->weight(w), (*x.tape)[b], result);
}
template <Backend B>
Variable<B> linear_columns(const Variable<B>& x, const Parameter& w, const Parameter& b, std::size_t first,
                           Result result = Result::kept) {
  detail::require_made("linear", x);
  return linear_columns(x, x.tape->weight(w), (*x.tape)[b], first, result);
}
template <Backend B>
void add_linear(const Variable<B>& y, const Variable<B>& x, const Parameter& w, std::size_t first = 0) {
  detail::require_made("add_linear", x);
  add_linear(y, x, x.tape->weight(w), first);
}

}  // namespace bahdanau
