// What the operations share: the checks of their arguments.
// An operation takes variables of one backend; mixing two is a compile error that says so.
#pragma once

#include <cstddef>
#include <string_view>

#include <bahdanau/autograd/map_elements.hpp>
#include <bahdanau/autograd/tape.hpp>
#include <bahdanau/autograd/variable.hpp>

namespace bahdanau::detail {

template <Backend A, Backend B>
void require_same_tape(std::string_view where, const Variable<A>& a, const Variable<B>& b) {
  static_assert(
      std::same_as<A, B>,
      "bahdanau: variables of different backends do not mix; build the whole model with one backend, "
      "and move arrays with value() and leaf()");
  if constexpr (std::same_as<A, B>)
    if (a.tape != b.tape) fail(where, "variables of one tape", "variables of two tapes");
}

template <Backend B>
void require_matrix(std::string_view where, std::string_view what, const Variable<B>& v) {
  if (v.shape.rank() != 2) fail(where, std::string(what) + " of rank 2", v.shape.text());
}

}  // namespace bahdanau::detail
