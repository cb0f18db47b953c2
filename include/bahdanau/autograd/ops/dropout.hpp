// Dropout: zeroes elements with probability `rate` and scales the others by 1 / (1 - rate).
// The mask is a function of a key and of what an element is, not of where it happens to lie in memory.
#pragma once

#include <algorithm>
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
};

namespace detail {

/// Draws a mask's factors.
struct MaskDraw {
  random::Key key;
  std::uint64_t fallen;  // of 2^32 draws
  double scale;

  explicit MaskDraw(const DropoutMask& mask)
      : key(mask.key), fallen(static_cast<std::uint64_t>(mask.rate * 0x1.0p32)), scale(1 / (1 - mask.rate)) {}

  /// 0 or 1 / (1 - rate), for element `column` of the row named `row`. Two columns share one draw of 64 bits.
  BAHDANAU_HOST_DEVICE double factor(std::uint64_t row, std::uint64_t column) const {
    const std::uint64_t draw = key.derive(row).bits(column / 2);
    const std::uint64_t half = column % 2 == 0 ? draw & 0xffffffffU : draw >> 32U;
    return half < fallen ? 0.0 : scale;
  }
};

struct RowMask {
  MaskDraw mask;
  const Index* row_name;  // null: the row's number
  std::size_t first;      // row
  BAHDANAU_HOST_DEVICE double operator()(std::size_t r, std::size_t c) const {
    return mask.factor(row_name ? static_cast<std::uint64_t>(row_name[first + r]) : first + r, c);
  }
};

struct PairMask {
  MaskDraw mask;
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

/// out = in ⊙ mask, or out += in ⊙ mask: [rows, cols]. Factors are drawn some rows at a time, and not kept:
/// an adjoint that draws them again costs less than the room for them.
template <Backend B, template <class> class Output>
void apply_mask(Tape<B>& tape, const MaskDraw& mask, const Index* row_names, std::size_t rows,
                std::size_t cols, Output<typename B::Scalar> out, const typename B::Scalar* in) {
  constexpr std::size_t elements = std::size_t{1} << (SpreadingBackend<B> ? 40 : 14);
  const std::size_t some = std::min(rows, std::max<std::size_t>(1, elements / cols));
  auto* factors = tape.scratch(some * cols);
  for (std::size_t first = 0; first < rows; first += some) {
    const std::size_t count = std::min(some, rows - first);
    B::tabulate(count, cols, RowMask{mask, row_names, first}, factors);
    map_elements<B>(count * cols, pointwise::Times{}, shifted(out, first * cols), in + first * cols,
                    input(factors));
  }
}

}  // namespace detail

/// y = x ⊙ mask. x [rows, cols]; `row_names` (on the tape, or null for 0, 1, ...) say which row is which.
template <Backend B>
Variable<B> dropout(const Variable<B>& x, const DropoutMask& mask, const Index* row_names = nullptr,
                    const Lane<B>& lane = {}) {
  detail::require_rate(mask.rate);
  if (mask.rate == 0) return x;
  using T = typename B::Scalar;
  const detail::MaskDraw draw(mask);
  const Variable<B> y = lane.weight ? x.tape->variable(x.shape, lane) : x.tape->passing(x.shape);
  detail::apply_mask<B>(*x.tape, draw, row_names, x.rows(), x.cols(), Store<T>{y.value}, x.value);
  if (x.gradient)
    x.tape->record([=] {
      // y = x f  =>  dx += dy f
      detail::apply_mask<B>(*x.tape, draw, row_names, x.rows(), x.cols(), Add<T>{x.gradient}, y.gradient);
    });
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
              detail::PairMask{detail::MaskDraw(mask), row_names, spans.query_of_pair, spans.key_of_pair,
                               spans.key_begin},
              factors.value);
  return weights * factors;
}

}  // namespace bahdanau
