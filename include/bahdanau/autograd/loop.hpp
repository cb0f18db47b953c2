// A loop on a tape: steps that do the same with fewer and fewer rows, as recurrent networks do.
// The tape then keeps the arrays of all steps in one piece, and takes the gradients of weights out of the
// loop.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include <bahdanau/autograd/ops/shape.hpp>
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
/// same order and of the same kind (one row per row of the step, or one per pair) lies together; what differs
/// works, and is slower.
template <Backend B>
class Loop {
 public:
  /// `state_rows` are those of `PackingLists`, for who sends them to the device together with other lists.
  Loop(Tape<B>& tape, std::span<const std::size_t> rows, std::span<const std::size_t> pairs = {},
       const Index* state_rows = nullptr)
      : tape_(&tape) {
    if (rows.empty() || rows[0] == 0) fail("Loop", "at least one step with at least one row", "none");
    if (!pairs.empty())
      detail::require_equal("Loop", "numbers of pairs, one per step:", rows.size(), pairs.size());
    tape.memory_.loops.begin(rows, pairs, state_rows);
    loop_ = tape.memory_.loops.running();
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
    for (auto& state : loop_->carried) state.between = nullptr;
    loop_->states.resize(static_cast<std::size_t>(loop_->step + 1) * loop_->carried.size());
  }

  /// Says what the k-th state is after this step. A cell that makes it with `Tape::following` has put it in
  /// its place; other results are copied there.
  Variable<B> carry_on(std::size_t k, const Variable<B>& next) {
    require_state("Loop::carry_on", k);
    if (loop_->step < 0) fail("Loop::carry_on", "a step() before it", "none");
    auto& state = loop_->carried[k];
    const auto step = static_cast<std::size_t>(loop_->step), rows = loop_->rows.count(step);
    detail::require_shape("Loop::carry_on", "a state", Shape{rows, state.width}, next.shape);
    Variable<B> after = next;
    // Where something that the step has made on the way is in its place, the state stays where it is.
    if (next.value != loop_->place(state, loop_->step) && state.made < loop_->step) {
      after = tape_->memory_.state_at(*tape_, state, loop_->step, rows);
      B::copy(next.value, next.size(), after.value);
      tape_->record({"Loop::carry_on", {next}, {after}},
                    [=](Gradients<B>& d) { detail::add_elements<B>(after.size(), d.of(after), d.to(next)); });
    }
    loop_->states[step * loop_->carried.size() + k] = after;
    return after;
  }

  /// Ends the loop; the destructor does so too.
  void end() {
    if (tape_->memory_.loops.running() == loop_) tape_->memory_.loops.end();
  }

  /// The k-th state after each step, step after step: [rows of all steps, width], for what follows the loop.
  Variable<B> all(std::size_t k) {
    end();
    require_state("Loop::all", k);
    std::vector<Variable<B>>& states = loop_->parts;
    states.clear();
    for (std::size_t t = 0; t < loop_->rows.steps(); ++t) {
      const std::size_t at = t * loop_->carried.size() + k;
      if (at >= loop_->states.size() || loop_->states[at].tape == nullptr)
        fail("Loop::all", "a state after each of the " + detail::text(loop_->rows.steps()) + " steps",
             "none after step " + detail::text(t), "call step() and carry_on() for each");
      states.push_back(loop_->states[at]);
    }
    return all(std::span<const Variable<B>>(states));
  }

  /// An array of each step, [rows, width], as one. Those that lie behind one another, as the k-th array of
  /// each step does, are not copied.
  Variable<B> all(std::span<const Variable<B>> parts) {
    end();
    detail::require_equal("Loop::all", "arrays, one per step:", loop_->rows.steps(), parts.size());
    if (!lie_together(parts)) return concat_rows<B>(parts);
    const Variable<B>& first = parts[0];
    std::size_t rows = 0;
    for (const Variable<B>& part : parts) rows += part.rows();
    Variable<B> v{tape_, first.value, {rows, first.cols()}};
    if (tape_->recording()) {
      using Array = detail::TapeArray<typename B::Scalar>;
      const std::uint32_t slot = tape_->memory_.arrays[first.array].slot;
      tape_->memory_.arrays.slot(slot).kept = true;
      v.array = tape_->memory_.arrays.add(
          {.value = v.value, .size = v.size(), .slot = slot, .step = Array::all_steps});
    }
    return v;
  }

 private:
  Variable<B> add_state(std::size_t width) {
    if (loop_->step >= 0) fail("Loop::carry", "states before the first step", "one later");
    const detail::StepStarts& rows = loop_->rows;
    const std::size_t before = rows.count(0) * width, total = rows.total() * width;
    typename detail::LoopRecord<B>::Carried state{
        tape_->memory_.lasting.values.allocate(before + total) + before, width};
    if (tape_->recording())
      state.slot =
          tape_->memory_.arrays.add(detail::Slot<typename B::Scalar>{.value = state.value,
                                                                     .before = before,
                                                                     .total = total,
                                                                     .largest = rows.largest() * width,
                                                                     .loop = loop_->number,
                                                                     .carried = true});
    loop_->carried.push_back(state);
    return tape_->memory_.state_at(*tape_, loop_->carried.back(), -1, rows.count(0));
  }
  /// Whether these are all the rows of a slot, step after step.
  bool lie_together(std::span<const Variable<B>> parts) const {
    const typename B::Scalar* next = parts[0].value;
    std::uint32_t slot = detail::no_slot;
    for (std::size_t t = 0; t < parts.size(); ++t) {
      const Variable<B>& part = parts[t];
      if (part.value != next || part.cols() != parts[0].cols()) return false;
      next += part.size();
      if (!tape_->recording()) continue;
      if (!part.has_gradient()) return false;
      const auto& array = tape_->memory_.arrays[part.array];
      if (array.slot == detail::no_slot || array.step != static_cast<std::int32_t>(t)) return false;
      if (array.value != part.value || array.size != part.size() || array.taken != nullptr) return false;
      if (t > 0 && array.slot != slot) return false;
      slot = array.slot;
    }
    return slot == detail::no_slot || tape_->memory_.arrays.slot(slot).value == parts[0].value;
  }

  void require_state(std::string_view where, std::size_t k) const {
    if (k >= loop_->carried.size())
      fail(where, "one of " + detail::text(loop_->carried.size()) + " states", "number " + detail::text(k));
  }
  static Variable<B> constant(Variable<B> v) {
    v.array = detail::no_array;
    return v;
  }

  Tape<B>* tape_;
  detail::LoopRecord<B>* loop_;
};

/// While it lives, cells make states from which another cell of the same step goes on: what follows a state
/// of a loop is not yet what goes to the next step. The place behind the state before is then left to the
/// last cell, so that nothing is copied and each weight's gradient is still one product.
///
///     Variable<B> between;
///     {
///       const InnerStep<B> inner(tape);
///       between = first_cell(h);
///     }
///     h = loop.carry_on(0, second_cell(between));
///
/// Outside of loops it changes nothing.
template <Backend B>
class InnerStep {
 public:
  explicit InnerStep(Tape<B>& tape)
      : loop_(tape.memory_.loops.running()), outer_(loop_ != nullptr && loop_->inner) {
    set(true);
  }
  ~InnerStep() { set(outer_); }
  InnerStep(const InnerStep&) = delete;
  InnerStep& operator=(const InnerStep&) = delete;

 private:
  void set(bool inner) {
    if (loop_ != nullptr) loop_->inner = inner;
  }
  detail::LoopRecord<B>* loop_;
  bool outer_;  // what was there before
};

/// Steps of any number, on a tape that does not record: arrays live until the step after the next one begins,
/// so that a step reads what the one before has made. What was made outside of the loop stays.
template <Backend B>
class OpenLoop {
 public:
  explicit OpenLoop(Tape<B>& tape) : tape_(&tape) {
    if (tape.recording())
      fail("OpenLoop", "a tape that does not record", "one that does", "use Loop, which knows its steps");
    tape.memory_.loops.begin_open();
  }
  ~OpenLoop() { tape_->memory_.loops.end(); }
  OpenLoop(const OpenLoop&) = delete;
  OpenLoop& operator=(const OpenLoop&) = delete;

  /// Begins the next step, and gives back what the step before the last one has made.
  void step() {
    tape_->memory_.loops.next_open();
    tape_->memory_.arena().reset();
  }

 private:
  Tape<B>* tape_;
};

}  // namespace bahdanau
