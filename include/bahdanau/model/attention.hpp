// Attention alone: queries, keys, values and valid lengths in; contexts and weights out.
// The same scores as in a model, with weights of their own, on ordinary arrays, or on a tape to be trained.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <bahdanau/core/array.hpp>
#include <bahdanau/model/attend.hpp>
#include <bahdanau/nn/weights.hpp>

namespace bahdanau {

/// What attention gives.
template <class Scalar>
struct AttentionResult {
  Array<Scalar, 3> contexts;  // [batch, queries, context]
  Array<Scalar, 3> weights;   // [batch, queries, keys]; rows sum to 1, but for `Local`'s; 0 beyond a valid
                              // length
};

/// A score with weights of its own. Widths of queries and keys may differ where the score allows it.
///
/// A class that derives from it and adds `Batch`, `check` and `objective`, the rule of how a batch becomes a
/// loss, is a `TrainableModel` (train/trainable.hpp): `attend` is what its `objective` calls.
template <class Score, class Backend>
class Attention {
  static_assert(ScoreOn<Score, Backend>,
                "bahdanau: an Attention needs a score and a backend; use Additive, ScaledDot, Dot or General "
                "(score/score.hpp), and Xtensor<float> or Xtensor<double>");

 public:
  // Only so that a wrong combination prints its one sentence and no more.
  explicit Attention(ScoreWidths, std::uint64_t = 0) {}
};

template <class S, class B>
requires ScoreOn<S, B>
class Attention<S, B> : public Parameterized<B> {
 public:
  using Scalar = typename B::Scalar;

  explicit Attention(ScoreWidths widths, std::uint64_t seed = 0)
      : widths_(widths), score_(S::declare(this->scope(), widths)) {
    this->initialize(seed);
  }

  /// On a tape that is bound to the weights: queries [queries, query], keys [all keys, key], values [all
  /// keys, value], and which rows each query meets (`Spans`). Throws for widths and rows that do not fit.
  Attended<B> attend(Tape<B>& tape, const Variable<B>& queries, const Variable<B>& keys,
                     const Variable<B>& values, const SpanView<B>& spans) const {
    const std::size_t count = spans.queries, query = widths_.query, rows = values.rows(), key = widths_.key;
    detail::require_shape("Attention", "queries", {count, query}, queries.shape);
    detail::require_shape("Attention", "keys", {rows, key}, keys.shape);
    detail::ScoreState<S, B> state{};
    if constexpr (detail::StatefulScore<S, B>) state = S::start(score_, tape, spans);
    return detail::attend<S, B>(score_, {queries, detail::remember<S, B>(score_, keys, values), spans},
                                state);
  }

  /// queries [batch, queries, query], keys [batch, keys, key], values [batch, keys, value]; of sentence b
  /// only the first valid_lengths[b] keys count. Throws for extents that do not fit and lengths outside 1 to
  /// keys.
  AttentionResult<Scalar> operator()(const Array<Scalar, 3>& queries, const Array<Scalar, 3>& keys,
                                     const Array<Scalar, 3>& values,
                                     std::span<const Index> valid_lengths) const {
    check(queries, keys, values, valid_lengths);
    const std::size_t batch = queries.shape(0), asked = queries.shape(1), steps = keys.shape(1);
    Tape<B> tape(detail::numbers(this->weights()));
    std::vector<Index> rows, begin, length;  // valid key rows; the span of every query
    for (std::size_t b = 0; b < batch; ++b) {
      begin.insert(begin.end(), asked, static_cast<Index>(rows.size()));
      length.insert(length.end(), asked, valid_lengths[b]);
      for (Index t = 0; t < valid_lengths[b]; ++t) rows.push_back(static_cast<Index>(b * steps) + t);
    }
    const Spans<B> spans(tape, begin, length);
    const Index* valid = tape.keep(rows);
    const auto ragged = [&](const Array<Scalar, 3>& dense) {
      return gather_rows(tape.constant(dense).reshape({batch * steps, dense.shape(2)}), valid, rows.size());
    };
    const Attended<B> attended =
        attend(tape, tape.constant(queries).reshape({batch * asked, queries.shape(2)}), ragged(keys),
               ragged(values), spans.view());
    AttentionResult<Scalar> result{
        value<3>(attended.context.reshape({batch, asked, attended.context.cols()})),
        Array<Scalar, 3>::from_shape({batch, asked, steps})};
    std::fill(result.weights.begin(), result.weights.end(), Scalar(0));
    const Array<Scalar, 1> flat = value<1>(attended.weights);
    const Scalar* from = flat.data();
    for (std::size_t q = 0; q < batch * asked; from += length[q], ++q)
      std::copy_n(from, length[q], result.weights.data() + q * steps);
    return result;
  }

 private:
  void check(const Array<Scalar, 3>& queries, const Array<Scalar, 3>& keys, const Array<Scalar, 3>& values,
             std::span<const Index> valid_lengths) const {
    const auto equal = [](std::string_view what, std::size_t expected, std::size_t got) {
      detail::require_equal("Attention", what, expected, got);
    };
    equal("queries of width", widths_.query, queries.shape(2));
    equal("keys of width", widths_.key, keys.shape(2));
    equal("keys for sentences:", queries.shape(0), keys.shape(0));
    equal("values for sentences:", queries.shape(0), values.shape(0));
    equal("values, one per key:", keys.shape(1), values.shape(1));
    equal("valid lengths, one per sentence:", queries.shape(0), valid_lengths.size());
    for (std::size_t b = 0; b < valid_lengths.size(); ++b)
      if (valid_lengths[b] < 1 || static_cast<std::size_t>(valid_lengths[b]) > keys.shape(1))
        fail("Attention, sentence " + detail::text(b),
             "a valid length from 1 to " + detail::text(keys.shape(1)), detail::text(valid_lengths[b]));
  }

  ScoreWidths widths_;
  typename S::Weights score_;
};

}  // namespace bahdanau
