// What the operations share: the checks of their arguments.
// An operation takes variables of one backend; mixing two is a compile error that says so.
#pragma once

#include <cstddef>
#include <string_view>

#include <bahdanau/autograd/map_elements.hpp>
#include <bahdanau/autograd/tape.hpp>
#include <bahdanau/autograd/variable.hpp>

namespace bahdanau::detail {

/// Throws for an array that nothing has made, as those are that a readout does not name in `reads`.
template <Backend B>
void require_made(std::string_view where, const Variable<B>& v) {
  if (v.tape == nullptr)
    fail(where, "arrays on a tape", "one that was never made", "a readout names what it reads in reads");
}

template <Backend A, Backend B>
void require_same_tape(std::string_view where, const Variable<A>& a, const Variable<B>& b) {
  static_assert(
      std::same_as<A, B>,
      "bahdanau: variables of different backends do not mix; build the whole model with one backend, "
      "and move arrays with value() and leaf()");
  if constexpr (std::same_as<A, B>) {
    require_made(where, a);
    require_made(where, b);
    if (a.tape != b.tape) fail(where, "variables of one tape", "variables of two tapes");
  }
}

template <Backend B>
void require_matrix(std::string_view where, std::string_view what, const Variable<B>& v) {
  if (v.shape.rank() != 2) fail(where, std::string(what) + " of rank 2", v.shape.text());
}

}  // namespace bahdanau::detail
