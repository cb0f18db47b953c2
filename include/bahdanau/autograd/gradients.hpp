// What an adjoint sees of gradients: that of its results to read, those of its arguments to add to.
#pragma once

#include <cstddef>

#include <bahdanau/autograd/variable.hpp>

namespace bahdanau {

/// Handed to every adjoint by the tape that plays it. All places are on the device, row-major, for the rows
/// of the variable that is asked for.
template <Backend B>
class Gradients {
 public:
  using Scalar = typename B::Scalar;

  explicit Gradients(Tape<B>& tape) : tape_(&tape) {}

  /// Whether anybody wants x's gradient: not so for a constant.
  bool wants(const Variable<B>& x) const { return x.has_gradient(); }

  /// dy, of a result; 0 where nothing depends on it.
  const Scalar* of(const Variable<B>& y) { return tape_->read_gradient(y); }

  /// dx, of an argument, to add to. For a constant a place that nobody reads.
  Scalar* to(const Variable<B>& x) { return tape_->add_gradient(x); }

  /// The same for who can store as well as add, which saves a pass: `empty` says that there is nothing yet,
  /// and what is there must be overwritten.
  struct Target {
    Scalar* data;
    bool empty;
  };
  Target target(const Variable<B>& x) { return tape_->gradient_target(x); }

  /// dx, of an argument whose memory the operation has taken over (`Tape::take`), to store in its place.
  Scalar* in_place(const Variable<B>& x) { return tape_->store_gradient(x); }

 private:
  Tape<B>* tape_;
};

}  // namespace bahdanau
