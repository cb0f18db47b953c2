// Operations that move elements without changing them: concatenation, slices, gathering rows.
// Row ranges and reshapes need no operation: see `Variable::row_range` and `Variable::reshape`.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <span>

#include <bahdanau/autograd/ops/common.hpp>

namespace bahdanau {

namespace detail {

/// Copies (or adds) `cols` columns of each row between arrays of different widths.
template <template <class> class Output, class T>
struct ColumnsRow {
  T* out;
  const T* in;
  std::size_t cols, out_stride, in_stride;
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t r) const {
    lanes.map(cols, pointwise::Identity{}, Output<T>{out + r * out_stride}, in + r * in_stride);
  }
};

/// out[r] = in[index[r]], or out[r] += in[index[r]]: [rows, cols].
template <template <class> class Output, class T>
struct GatherRow {
  T* out;
  const T* in;
  const Index* index;
  std::size_t cols;
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t r) const {
    lanes.map(cols, pointwise::Identity{}, Output<T>{out + r * cols},
              in + static_cast<std::size_t>(index[r]) * cols);
  }
};

}  // namespace detail

/// Columns first, ..., first + count - 1 of x [rows, cols], as a copy [rows, count].
template <Backend B>
Variable<B> slice_columns(const Variable<B>& x, std::size_t first, std::size_t count) {
  using T = typename B::Scalar;
  detail::require_made("slice_columns", x);
  if (first > x.cols() || count > x.cols() - first)
    fail("slice_columns", "first + count of at most " + detail::text(x.cols()),
         detail::text(first) + " + " + detail::text(count));
  const Variable<B> y = x.tape->variable({x.rows(), count});
  B::for_rows(x.rows(), detail::ColumnsRow<Store, T>{y.value, x.value + first, count, count, x.cols()});
  x.tape->record({"slice_columns", {x}, {y}}, [=](Gradients<B>& d) {
    // y = x[:, first:]  =>  dx[:, first:] += dy
    B::for_rows(x.rows(), detail::ColumnsRow<Add, T>{d.to(x) + first, d.of(y), count, x.cols(), count});
  });
  return y;
}

/// Arrays side by side: [rows, c_1], [rows, c_2], ... give [rows, c_1 + c_2 + ...].
template <Backend B>
Variable<B> concat_columns(std::initializer_list<Variable<B>> parts) {
  using T = typename B::Scalar;
  if (parts.size() == 0) fail("concat_columns", "at least one part", "none");
  const Variable<B> head = *parts.begin();
  std::size_t width = 0;
  for (const Variable<B>& part : parts) {
    detail::require_same_tape("concat_columns", head, part);
    detail::require_equal("concat_columns", "parts with rows:", head.rows(), part.rows());
    width += part.cols();
  }
  const Variable<B> y = head.tape->variable({head.rows(), width});
  std::size_t first = 0;
  for (const Variable<B>& part : parts) {
    B::for_rows(part.rows(),
                detail::ColumnsRow<Store, T>{y.value + first, part.value, part.cols(), width, part.cols()});
    part.tape->record({"concat_columns", {part}, {y}}, [=](Gradients<B>& d) {
      // y[:, first:] = part  =>  dpart += dy[:, first:]
      B::for_rows(part.rows(),
                  detail::ColumnsRow<Add, T>{d.to(part), d.of(y) + first, part.cols(), part.cols(), width});
    });
    first += part.cols();
  }
  return y;
}

/// Arrays below one another: [r_1, cols], [r_2, cols], ... give [r_1 + r_2 + ..., cols].
template <Backend B>
Variable<B> concat_rows(std::span<const Variable<B>> parts) {
  if (parts.empty()) fail("concat_rows", "at least one part", "none");
  const Variable<B> head = parts[0];
  std::size_t rows = 0;
  for (const Variable<B>& part : parts) {
    detail::require_same_tape("concat_rows", head, part);
    detail::require_equal("concat_rows", "parts of width", head.cols(), part.cols());
    rows += part.rows();
  }
  const Variable<B> y = head.tape->variable({rows, head.cols()});
  std::size_t first = 0;
  for (const Variable<B>& part : parts) {
    const Variable<B> place = y.row_range(first, part.rows());
    B::copy(part.value, part.size(), place.value);
    part.tape->record({"concat_rows", {part}, {place}}, [=](Gradients<B>& d) {
      // y[first:] = part  =>  dpart += dy[first:]
      detail::add_elements<B>(part.size(), d.of(place), d.to(part));
    });
    first += part.rows();
  }
  return y;
}

template <Backend B>
Variable<B> concat_rows(std::initializer_list<Variable<B>> parts) {
  return concat_rows<B>(std::span<const Variable<B>>(parts.begin(), parts.size()));
}

/// y[i] = x[index[i]]: x [rows, cols], y [count, cols]. A row may be taken any number of times; an embedding
/// is this with token ids. `index` is on the tape (`Tape::keep`) and was checked by the caller.
template <Backend B>
Variable<B> gather_rows(const Variable<B>& x, const Index* index, std::size_t count) {
  using T = typename B::Scalar;
  detail::require_made("gather_rows", x);
  const Variable<B> y = x.tape->variable({count, x.cols()});
  B::for_rows(count, detail::GatherRow<Store, T>{y.value, x.value, index, x.cols()});
  // y[i] = x[index[i]]  =>  dx[index[i]] += dy[i]; for a leaf after all adjoints: tapes that share an
  // embedding need no memory for all of its rows then
  if (x.tape->is_leaf(x))
    x.tape->add_rows(x, y, index);
  else
    x.tape->record({"gather_rows", {x}, {y}},
                   [=](Gradients<B>& d) { B::scatter_add(count, x.cols(), d.of(y), index, d.to(x)); });
  return y;
}

/// The same for indices on the host; throws where one is outside of x.
template <Backend B>
Variable<B> gather_rows(const Variable<B>& x, std::span<const Index> index) {
  detail::require_made("gather_rows", x);
  for (const Index i : index)
    if (i < 0 || static_cast<std::size_t>(i) >= x.rows())
      fail("gather_rows",
           x.rows() == 0 ? "no index at all" : "indices from 0 to " + detail::text(x.rows() - 1),
           detail::text(i));
  return gather_rows(x, x.tape->keep(index), index.size());
}

/// `gather_rows` where rows are taken several times: products of y with weights, and what they hand back to
/// x and to the weights, are computed once for each row of x.
template <Backend B>
Variable<B> share_rows(const Variable<B>& x, const Index* index, std::size_t count) {
  Variable<B> y = gather_rows(x, index, count);
  y.shared = x.tape->keep(detail::SharedRows<B>{x.value, x.rows(), index, x.array});
  return y;
}

namespace detail {

/// Throws unless the gradient of x can be read off that of y.
template <Backend B>
void require_addable(std::string_view where, const Variable<B>& y, const Variable<B>& x) {
  require_same_tape(where, x, y);
  require_equal(where, "y of width", x.cols(), y.cols());
  if (!y.has_gradient() && x.has_gradient())
    fail(where, "a y with a gradient", "a constant", "make it with linear, or variable");
}

}  // namespace detail

/// y += x in place: both [rows, cols]. Whatever computed y receives y's gradient as it is, so y's earlier
/// value must not be needed by any adjoint: true for a `linear` result.
template <Backend B>
void add_in_place(const Variable<B>& y, const Variable<B>& x) {
  detail::require_addable("add_in_place", y, x);
  detail::require_shape("add_in_place", "y", x.shape, y.shape);
  detail::add_elements<B>(x.size(), x.value, y.value);
  x.tape->record({"add_in_place", {x}, {y}}, [=](Gradients<B>& d) {
    // y += x  =>  dx += dy
    detail::add_elements<B>(x.size(), d.of(y), d.to(x));
  });
}

/// y[i] += x[index[i]] in place: x [rows, cols], y [count, cols]; `index` as above, y as for `add_in_place`.
template <Backend B>
void add_gathered_rows(const Variable<B>& y, const Variable<B>& x, const Index* index) {
  using T = typename B::Scalar;
  detail::require_addable("add_gathered_rows", y, x);
  const std::size_t count = y.rows();
  B::for_rows(count, detail::GatherRow<Add, T>{y.value, x.value, index, x.cols()});
  x.tape->record({"add_gathered_rows", {x}, {y}}, [=](Gradients<B>& d) {
    // y[i] += x[index[i]]  =>  dx[index[i]] += dy[i]
    B::scatter_add(count, x.cols(), d.of(y), index, d.to(x));
  });
}

}  // namespace bahdanau
