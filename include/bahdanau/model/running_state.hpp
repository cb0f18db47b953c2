// All that goes from step to step, as a list of arrays: one row for each row that runs, or one for each of
// its pairs with keys. Passes, searches and states that outlive a tape handle it so.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <bahdanau/autograd/ops/shape.hpp>
#include <bahdanau/autograd/tape.hpp>
#include <bahdanau/score/score.hpp>

namespace bahdanau::detail {

/// All that goes from step to step: the decoder's state, and the score's.
template <class D, class S, Backend B>
struct RunningState {
  static constexpr bool has_pairs = requires(ScoreState<S, B> & score) { score.each_pair(AnyVisitor{}); };

  D decoder;
  ScoreState<S, B> score;

  /// The arrays [rows, any].
  template <class F>
  void each_row(F f) {
    decoder.each(f);
    if constexpr (requires { score.each_row(AnyVisitor{}); }) score.each_row(f);
  }
  /// The arrays [pairs].
  template <class F>
  void each_pair(F f) {
    if constexpr (has_pairs) score.each_pair(f);
  }
};

/// The pairs of rows `from`, where row r has `length[r]` of them, for `gather_pairs`.
inline void add_pairs(std::span<const Index> from, std::span<const Index> length, std::vector<Index>& pairs) {
  std::vector<Index> offset{0};
  for (const Index n : length) offset.push_back(offset.back() + n);
  for (const Index row : from)
    for (Index i = offset[static_cast<std::size_t>(row)]; i < offset[static_cast<std::size_t>(row) + 1]; ++i)
      pairs.push_back(i);
}

/// y[i] = x[list[i]] for an array [pairs]; the list is on the tape.
template <Backend B>
Variable<B> gather_pairs(const Variable<B>& x, const Index* list, std::size_t count) {
  return gather_rows(x.reshape({x.size(), 1}), list, count).reshape({count});
}

/// The first `count` of the elements of an array [pairs].
template <Backend B>
Variable<B> first_pairs(const Variable<B>& v, std::size_t count) {
  return v.reshape({v.size(), 1}).row_range(0, count).reshape({count});
}

/// Replaces the rows of a state by its rows `from` [rows], and their pairs, of which row r had `length[r]`.
template <class D, class S, Backend B>
void reorder(Tape<B>& tape, std::span<const Index> from, std::span<const Index> length,
             RunningState<D, S, B>& state) {
  const Index* rows = tape.keep(from);
  state.each_row([&](Variable<B>& v) { v = gather_rows(v, rows, from.size()); });
  if constexpr (RunningState<D, S, B>::has_pairs) {
    std::vector<Index> pairs;
    add_pairs(from, length, pairs);
    const Index* list = tape.keep(pairs);
    state.each_pair([&](Variable<B>& v) { v = gather_pairs(v, list, pairs.size()); });
  }
}

}  // namespace bahdanau::detail
