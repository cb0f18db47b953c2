// What an adjoint sees of gradients: that of its results to read, those of its arguments to add to.
// The tape hands it to every adjoint that it plays; on a checked tape it also sees to the rules.
#pragma once

#include <cstddef>

#include <bahdanau/autograd/arena.hpp>
#include <bahdanau/autograd/arrays.hpp>
#include <bahdanau/autograd/checks.hpp>
#include <bahdanau/autograd/variable.hpp>
#include <bahdanau/core/error.hpp>

namespace bahdanau {

/// Handed to every adjoint by the tape that plays it. All places are on the device, row-major, for the rows
/// of the variable that is asked for.
template <Backend B>
class Gradients {
 public:
  using Scalar = typename B::Scalar;

  /// For tapes: the gradients of these arrays, with the rules checked if there is somebody who does.
  Gradients(detail::Arrays<B>& arrays, detail::TapeChecks<B>* checks) : arrays_(&arrays), checks_(checks) {}

  /// Whether anybody wants x's gradient: not so for a constant.
  bool wants(const Variable<B>& x) const { return x.has_gradient(); }

  /// dy, of a result; 0 where nothing depends on it.
  const Scalar* of(const Variable<B>& y) {
    if (checks_ != nullptr) checks_->reads(y.array);
    return arrays_->gradient(y);
  }

  /// dx, of an argument, to add to. For a constant a place that nobody reads.
  Scalar* to(const Variable<B>& x) {
    if (!x.has_gradient()) return nowhere_.allocate(x.size());
    require_own(x);
    return arrays_->gradient(x);
  }

  /// The same for who can store as well as add, which saves a pass: `empty` says that there is nothing yet,
  /// and what is there must be overwritten.
  struct Target {
    Scalar* data;
    bool empty;
  };
  Target target(const Variable<B>& x) {
    if (!x.has_gradient()) return {nowhere_.allocate(x.size()), true};
    require_own(x);
    if (arrays_->filled(x.array) || arrays_->parts_filled(x.array) || !arrays_->is_whole(x))
      return {arrays_->gradient(x), false};
    return {arrays_->stored(x), true};
  }

  /// dx, of an argument whose memory the operation has taken over (`Tape::take`), to store in its place.
  Scalar* in_place(const Variable<B>& x) {
    if (!x.has_gradient()) return x.value;  // a constant's memory was taken all the same
    if (!arrays_->was_taken(x))
      fail("Gradients::in_place", "an argument that was taken with Tape::take", "another one");
    if (checks_ != nullptr) checks_->fills(x.array);
    return arrays_->stored(x);
  }

  /// For tapes: the adjoint has ended, and with it what it has put where nobody reads.
  void forget_constants() { nowhere_.reset(); }

 private:
  void require_own(const Variable<B>& x) {
    if (arrays_->was_taken(x))
      fail("Gradients::to", "an argument that keeps its value", "one that was taken", "use in_place()");
    if (checks_ != nullptr) checks_->fills(x.array);
  }

  detail::Arrays<B>* arrays_;
  detail::TapeChecks<B>* checks_;
  detail::Arena<typename B::template Storage<Scalar>> nowhere_;
};

}  // namespace bahdanau
