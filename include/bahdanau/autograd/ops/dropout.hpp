// Dropout: zeroes elements with probability `rate` and scales the others by 1 / (1 - rate).
// The mask is a function of a key and of what an element is, not of where it happens to lie in memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include <bahdanau/autograd/ops/pointwise.hpp>
#include <bahdanau/autograd/spans.hpp>
#include <bahdanau/core/random.hpp>

namespace bahdanau {

/// Which elements fall: one key a place in the model and a training step.
struct DropoutMask {
  double rate = 0;
  random::Key key;

  /// 0 or 1 / (1 - rate), for element `column` of the row named `row`. Two columns share one draw of 64 bits.
  BAHDANAU_HOST_DEVICE double factor(std::uint64_t row, std::uint64_t column) const {
    const std::uint64_t draw = key.derive(row).bits(column / 2);
    const auto half = static_cast<std::uint32_t>(column % 2 == 0 ? draw : draw >> 32);
    return static_cast<double>(half) < rate * 0x1.0p32 ? 0.0 : 1.0 / (1.0 - rate);
  }
};

namespace detail {

struct RowMask {
  DropoutMask mask;
  const Index* row_name;  // null: the row's number
  BAHDANAU_HOST_DEVICE double operator()(std::size_t r, std::size_t c) const {
    return mask.factor(row_name ? static_cast<std::uint64_t>(row_name[r]) : r, c);
  }
};

struct PairMask {
  DropoutMask mask;
  const Index *row_name, *query_of_pair, *key_of_pair, *key_begin;
  BAHDANAU_HOST_DEVICE double operator()(std::size_t pair, std::size_t) const {
    const auto query = static_cast<std::size_t>(query_of_pair[pair]);
    const auto position = static_cast<std::uint64_t>(key_of_pair[pair] - key_begin[query]);
    return mask.factor(row_name ? static_cast<std::uint64_t>(row_name[query]) : query, position);
  }
};

inline void require_rate(double rate) {
  if (!(rate >= 0.0 && rate < 1.0))
    fail("dropout", "a rate from 0 up to, not including, 1", std::to_string(rate));
}

/// y = x ⊙ f for a constant f.
template <Backend B>
void scale_by_constant(const Variable<B>& y, const Variable<B>& x, const Variable<B>& f) {
  using T = typename B::Scalar;
  map_elements<B>(x.size(), pointwise::Times{}, Store<T>{y.value}, input(x.value), input(f.value));
  if (x.gradient)
    x.tape->record([=] {
      // y = x f  =>  dx += dy f
      map_elements<B>(x.size(), pointwise::Times{}, Add<T>{x.gradient}, input(y.gradient), input(f.value));
    });
}

}  // namespace detail

/// y = x ⊙ mask. x [rows, cols]; `row_names` (on the tape, or null for 0, 1, ...) say which row is which.
template <Backend B>
Variable<B> dropout(const Variable<B>& x, const DropoutMask& mask, const Index* row_names = nullptr,
                    const Lane<B>& lane = {}) {
  detail::require_rate(mask.rate);
  if (mask.rate == 0) return x;
  const Variable<B> factors = x.tape->constant(x.shape);
  B::tabulate(x.rows(), x.cols(), detail::RowMask{mask, row_names}, factors.value);
  const Variable<B> y = x.tape->variable(x.shape, lane);
  detail::scale_by_constant(y, x, factors);
  return y;
}

/// The same for weights [pairs]: element (query, position in its span).
template <Backend B>
Variable<B> dropout(const Variable<B>& weights, const SpanView<B>& spans, const DropoutMask& mask,
                    const Index* row_names = nullptr) {
  detail::require_rate(mask.rate);
  if (mask.rate == 0) return weights;
  const Variable<B> factors = weights.tape->constant(weights.shape);
  B::tabulate(spans.pairs, 1,
              detail::PairMask{mask, row_names, spans.query_of_pair, spans.key_of_pair, spans.key_begin},
              factors.value);
  return weights * factors;
}

}  // namespace bahdanau
