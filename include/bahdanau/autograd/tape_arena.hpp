// The memory of a tape's arrays: values, lists of row numbers, and how shared rows came about.
// What lies in one is given back together.
#pragma once

#include <deque>

#include <bahdanau/autograd/arena.hpp>
#include <bahdanau/autograd/index_lists.hpp>
#include <bahdanau/autograd/variable.hpp>

namespace bahdanau::detail {

template <Backend B>
struct TapeArena {
  Arena<typename B::template Storage<typename B::Scalar>> values;
  IndexLists<B> lists;
  std::deque<SharedRows<B>> shared_rows;  // variables point into it

  /// As `Arena::reset`.
  bool reset() {
    shared_rows.clear();
    const bool moved = values.reset();
    return lists.reset() || moved;
  }
};

}  // namespace bahdanau::detail
