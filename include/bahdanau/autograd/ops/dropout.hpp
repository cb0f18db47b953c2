// Dropout: zeroes elements with probability `rate` and scales the others by 1 / (1 - rate).
// The mask is a function of a key and of what an element is, not of where it happens to lie in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <bahdanau/autograd/ops/common.hpp>
#include <bahdanau/autograd/spans.hpp>
#include <bahdanau/core/random.hpp>

namespace bahdanau {

/// Which elements are dropped: one key for each place in the model and training step.
struct DropoutMask {
  double rate = 0;
  random::Key key;
};

namespace detail {

/// Draws a mask's factors.
struct MaskDraw {
  random::Key key;
  std::uint32_t drop_threshold;  // draws below it, of 2^32, drop their element
  double scale;

  explicit MaskDraw(const DropoutMask& mask)
      : key(mask.key),
        drop_threshold(static_cast<std::uint32_t>(mask.rate * 0x1.0p32)),
        scale(1 / (1 - mask.rate)) {}

  /// The stream of a row; a draw of it decides over two columns.
  BAHDANAU_HOST_DEVICE random::Key row(std::uint64_t name) const { return key.derive(name); }
};

/// 0 or `kept`, as the lower half of a draw says.
template <class T>
BAHDANAU_HOST_DEVICE T mask_factor(std::uint64_t draw, std::uint32_t drop_threshold, T kept) {
  return static_cast<std::uint32_t>(draw) < drop_threshold ? T(0) : kept;
}

/// out = in ⊙ mask, or out += in ⊙ mask: [rows, cols]. Factors are not kept: an adjoint that draws them again
/// costs less than the memory for them.
template <template <class> class Output, class T>
struct MaskRow {
  MaskDraw mask;
  const Index* row_name;  // null: the row's number
  std::size_t cols;
  T* out;
  const T* in;
  template <class Lanes>
  BAHDANAU_HOST_DEVICE void operator()(Lanes lanes, std::size_t r) const {
    constexpr bool add = std::is_same_v<Output<T>, Add<T>>;
    const random::Key key = mask.row(row_name ? static_cast<std::uint64_t>(row_name[r]) : r);
    // Copies, and both columns read before one is written: so a compiler sees that it may use vectors.
    const std::uint32_t drop_threshold = mask.drop_threshold;
    const T kept = static_cast<T>(mask.scale);
    T* to = out + r * cols;
    const T* from = in + r * cols;
    lanes.for_columns(cols / 2, [=](std::size_t pair) {
      const std::size_t c = 2 * pair;
      const std::uint64_t draw = key.bits(pair);
      const T a = from[c] * mask_factor(draw, drop_threshold, kept),
              b = from[c + 1] * mask_factor(draw >> 32U, drop_threshold, kept);
      const T sum_a = add ? to[c] + a : a, sum_b = add ? to[c + 1] + b : b;
      to[c] = sum_a;
      to[c + 1] = sum_b;
    });
    if (cols % 2 == 0 || !lanes.owns(0)) return;
    const T last = from[cols - 1] * mask_factor(key.bits(cols / 2), drop_threshold, kept);
    to[cols - 1] = add ? to[cols - 1] + last : last;
  }
};

/// The mask of weights [pairs, heads], which lie query after query, and of each query head after head: that
/// of head h is the mask of a single one, with the number h as `AttentionStep::drop` has it.
template <class View>
struct SpanMask {
  MaskDraw mask;
  const Index* row_name;
  View spans;
  std::size_t heads;
  BAHDANAU_HOST_DEVICE double operator()(std::size_t row, std::size_t column) const {
    const auto query = static_cast<std::size_t>(spans.query_of_pair[row]);
    const auto [key, pair, n] = spans.span(query);
    std::size_t position = (row - pair) * heads + column;
    random::Key own = mask.key;
    if (position >= n) {
      own = own.derive(position / n);
      position %= n;
    }
    const random::Key stream = own.derive(row_name ? static_cast<std::uint64_t>(row_name[query]) : query);
    const std::uint64_t draw = stream.bits(position / 2);
    return mask_factor(position % 2 == 0 ? draw : draw >> 32U, mask.drop_threshold, mask.scale);
  }
};

inline void require_rate(double rate) {
  if (!(rate >= 0.0 && rate < 1.0))
    fail("dropout", "a rate from 0 up to, not including, 1", detail::number_text(rate));
}

}  // namespace detail

/// y = x ⊙ mask. x [rows, cols]; `row_names` (on the tape, or null for 0, 1, ...) say which row is which.
template <Backend B>
Variable<B> dropout(const Variable<B>& x, const DropoutMask& mask, const Index* row_names = nullptr) {
  detail::require_rate(mask.rate);
  if (mask.rate == 0) return x;
  using T = typename B::Scalar;
  const detail::MaskDraw draw(mask);
  const Variable<B> y = x.tape->variable(x.shape);
  B::for_rows(x.rows(), detail::MaskRow<Store, T>{draw, row_names, x.cols(), y.value, x.value});
  x.tape->record({"dropout", {x}, {y}}, [=](Gradients<B>& d) {
    // y = x f  =>  dx += dy f
    B::for_rows(x.rows(), detail::MaskRow<Add, T>{draw, row_names, x.cols(), d.to(x), d.of(y)});
  });
  return y;
}

namespace detail {

/// weight ⊙ mask, for weights of so many heads as `SpanMask` has them.
template <Backend B>
Variable<B> span_dropout(std::string_view where, const Variable<B>& weight, const SpanView<B>& spans,
                         std::size_t heads, const DropoutMask& mask, const Index* row_names) {
  using T = typename B::Scalar;
  const Variable<B> factors = weight.tape->constant(weight.shape), y = weight.tape->variable(weight.shape);
  B::tabulate(spans.pairs, heads, SpanMask<SpanView<B>>{MaskDraw(mask), row_names, spans, heads},
              factors.value);
  map_elements<B>(y.size(), pointwise::Times{}, Store<T>{y.value}, input(weight.value), input(factors.value));
  weight.tape->record({where, {weight}, {y}, {factors}}, [=](Gradients<B>& d) {
    // y = α f  =>  dα += dy f
    map_elements<B>(y.size(), pointwise::Times{}, Add<T>{d.to(weight)}, d.of(y), input(factors.value));
  });
  return y;
}

}  // namespace detail

/// The same for weights [pairs]: element (query, position in its span).
template <Backend B>
Variable<B> dropout(const Variable<B>& weights, const SpanView<B>& spans, const DropoutMask& mask,
                    const Index* row_names = nullptr) {
  detail::require_rate(mask.rate);
  if (mask.rate == 0) return weights;
  detail::require_equal("dropout", "weights, one per pair:", spans.pairs, weights.size());
  return detail::span_dropout("dropout", weights, spans, 1, mask, row_names);
}

}  // namespace bahdanau
