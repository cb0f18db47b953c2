// Sums of two arrays of one shape, as residual connections have them. They use the kernels that every program
// has; those of `operator+`, which meets rows and columns too, are left out of it.
#pragma once

#include <bahdanau/autograd/ops/common.hpp>

namespace bahdanau::detail {

/// y = a + b, both of one shape; da = dy, db = dy.
template <Backend B>
Variable<B> residual_sum(const Variable<B>& a, const Variable<B>& b) {
  require_same_tape("residual_sum", a, b);
  require_shape("residual_sum", "b", a.shape, b.shape);
  const Variable<B> y = a.tape->variable(a.shape);
  B::copy(a.value, a.size(), y.value);
  add_elements<B>(b.size(), b.value, y.value);
  a.tape->record({"residual_sum", {a, b}, {y}}, [=](Gradients<B>& d) {
    // y = a + b  =>  da += dy, db += dy
    if (d.wants(a)) add_elements<B>(y.size(), d.of(y), d.to(a));
    if (d.wants(b)) add_elements<B>(y.size(), d.of(y), d.to(b));
  });
  return y;
}

}  // namespace bahdanau::detail
