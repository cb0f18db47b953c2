// A loop on a tape: steps that do the same with fewer and fewer rows, as a recurrent layer or a decoder does.
// The tape then keeps the arrays of all steps in one piece, and takes the gradients of weights out of the
// loop.
#pragma once

#include <cstddef>
#include <span>

#include <bahdanau/autograd/tape.hpp>

namespace bahdanau {

/// Steps whose rows, and (row, key) pairs where there is attention, are known before the first one.
///
///     Loop<B> loop(tape, rows);                 // of each step
///     Variable<B> h = loop.carry(first);        // [rows[0], width]
///     for (std::size_t t = 0; t < rows.size(); ++t) {
///       loop.step();
///       h = loop.carry_on(0, cell(h.row_range(0, rows[t])));
///     }
///     loop.end();
///     const Variable<B> all = loop.all(0);      // [rows[0] + rows[1] + ..., width]
///
/// Nothing else is asked of what runs inside: any operation may make any array. What each step makes in the
/// same order and of the same kind (one row a row, or one a pair) lies together; what differs works, and is
/// slower.
template <Backend B>
class Loop {
 public:
  /// `state_rows` are `Packing::state_rows` on the tape, for who sends them together with other lists.
  Loop(Tape<B>& tape, std::span<const std::size_t> rows, std::span<const std::size_t> pairs = {},
       const Index* state_rows = nullptr)
      : tape_(&tape) {
    tape.begin_loop(rows, pairs, state_rows);
    loop_ = tape.loop_;
  }
  ~Loop() { end(); }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  /// A state that goes from step to step, from its first value [rows of step 0, width] on. Before `step`.
  Variable<B> carry(const Variable<B>& first) {
    detail::require_equal("Loop::carry", "a first state with rows:", loop_->rows.count(0), first.rows());
    const Variable<B> state = add_state(first.cols());
    B::copy(first.value, first.size(), state.value);
    if (!first.has_gradient()) return constant(state);
    tape_->record({"Loop::carry", {first}, {state}},
                  [=](Gradients<B>& d) { detail::add_elements<B>(state.size(), d.of(state), d.to(first)); });
    return state;
  }
  /// The same from zeros.
  Variable<B> carry_zeros(std::size_t width) {
    const Variable<B> state = add_state(width);
    B::fill(state.value, state.size(), typename B::Scalar(0));
    return constant(state);
  }

  /// Begins the next step.
  void step() {
    if (static_cast<std::size_t>(++loop_->step) >= loop_->rows.steps())
      fail("Loop::step", "at most " + detail::text(loop_->rows.steps()) + " steps", "one more");
    loop_->arrays = loop_->weights = 0;
  }

  /// Says what the k-th state is after this step. A cell that makes it with `Tape::following` has put it in
  /// its place; other results are copied there.
  Variable<B> carry_on(std::size_t k, const Variable<B>& next) {
    const auto& state = loop_->carried[k];
    if (next.value == loop_->place(state, loop_->step)) return next;
    const auto rows = loop_->rows.count(static_cast<std::size_t>(loop_->step));
    detail::require_shape("Loop::carry_on", "a state", {rows, state.width}, next.shape);
    const Variable<B> copy = tape_->state_at(state, loop_->step, rows);
    B::copy(next.value, next.size(), copy.value);
    tape_->record({"Loop::carry_on", {next}, {copy}},
                  [=](Gradients<B>& d) { detail::add_elements<B>(copy.size(), d.of(copy), d.to(next)); });
    return copy;
  }

  /// Ends the loop; the destructor does so too.
  void end() {
    if (tape_->loop_ == loop_) tape_->end_loop();
  }

  /// The k-th state after each step, step after step: [rows of all steps, width], for what follows the loop.
  Variable<B> all(std::size_t k) {
    end();
    const auto& state = loop_->carried[k];
    Variable<B> v{tape_, state.value, {loop_->rows.total(), state.width}};
    if (tape_->recording()) {
      using Array = detail::TapeArray<typename B::Scalar>;
      tape_->arrays_.slot(state.slot).kept = true;
      v.array = tape_->arrays_.add(
          {.value = v.value, .size = v.size(), .slot = state.slot, .step = Array::all_steps});
    }
    return v;
  }

 private:
  Variable<B> add_state(std::size_t width) {
    if (loop_->step >= 0) fail("Loop::carry", "states before the first step", "one later");
    const detail::StepStarts& rows = loop_->rows;
    const std::size_t before = rows.count(0) * width, total = rows.total() * width;
    typename detail::LoopRecord<B>::Carried state{tape_->values_.allocate(before + total) + before, width};
    if (tape_->recording())
      state.slot = tape_->arrays_.add(detail::Slot<typename B::Scalar>{.value = state.value,
                                                                       .before = before,
                                                                       .total = total,
                                                                       .largest = rows.largest() * width,
                                                                       .loop = tape_->loop_number_,
                                                                       .carried = true});
    loop_->carried.push_back(state);
    return tape_->state_at(state, -1, rows.count(0));
  }
  static Variable<B> constant(Variable<B> v) {
    v.array = detail::no_array;
    return v;
  }

  Tape<B>* tape_;
  detail::LoopRecord<B>* loop_;
};

}  // namespace bahdanau
