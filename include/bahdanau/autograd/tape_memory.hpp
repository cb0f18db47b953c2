// The memory of a tape: arenas for what it computes, what it knows of each array, and its loops.
// Where a new array lies is decided here alone.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>

#include <bahdanau/autograd/arena.hpp>
#include <bahdanau/autograd/arrays.hpp>
#include <bahdanau/autograd/index_lists.hpp>
#include <bahdanau/autograd/loop_arrays.hpp>
#include <bahdanau/autograd/variable.hpp>

namespace bahdanau::detail {

/// Values, lists of row numbers, and how shared rows came about: what lies in one arena is given back
/// together.
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

template <Backend B>
class TapeMemory {
 public:
  using Scalar = typename B::Scalar;
  using Carried = typename LoopRecord<B>::Carried;

  explicit TapeMemory(bool recording) : recording_(recording) {}

  /// Where what is made now lies: two steps of an open loop have arenas of their own, all else shares one.
  TapeArena<B>& arena() {
    return loops.in_open_step() ? alternate_[static_cast<std::size_t>(loops.step()) % 2] : lasting;
  }

  /// A new uninitialised array: in a recorded loop behind that of the step before.
  Variable<B> allocate(Tape<B>& tape, const Shape& shape, bool with_gradient) {
    Variable<B> v{&tape, nullptr, shape};
    std::uint32_t slot = no_slot;
    if (recording_ && loops.in_step()) {
      const auto place = loops.next(shape, arrays, lasting.values);
      v.value = place.value;
      slot = place.slot;
    } else {
      v.value = arena().values.allocate(shape.size());
    }
    if (with_gradient)
      v.array = arrays.add({.value = v.value, .size = shape.size(), .slot = slot, .step = loops.step()});
    return v;
  }

  /// The state that this step of a loop carries on from `before`, if that was carried to it, or is what an
  /// inner step has made of it, and its place is not taken yet; or null.
  Carried* carried_on(const Variable<B>& before) {
    if (!loops.in_step()) return nullptr;
    LoopRecord<B>& loop = *loops.running();
    Carried* state = loop.find(before.value, loop.step - 1);
    for (Carried& other : loop.carried)
      if (other.between == before.value) state = &other;
    const bool free = state != nullptr && state->made < loop.step &&
                      before.rows() == loop.rows.count(static_cast<std::size_t>(loop.step));
    return free ? state : nullptr;
  }
  /// The place of a state at a step, or before the first one (-1), for whoever makes it.
  Variable<B> state_at(Tape<B>& tape, Carried& state, std::int32_t step, std::size_t rows) {
    state.made = step;
    Variable<B> v{&tape, loops.running()->place(state, step), {rows, state.width}};
    if (recording_)
      v.array = arrays.add({.value = v.value, .size = v.size(), .slot = state.slot, .step = step});
    return v;
  }

  /// Of all values, used or not.
  std::size_t bytes() const {
    std::size_t total = lasting.values.capacity();
    for (const auto& some : alternate_) total += some.values.capacity();
    return total * sizeof(Scalar);
  }

  /// Forgets everything. As `Arena::reset`.
  bool reset() {
    loops.reset();
    bool moved = lasting.reset();
    for (auto& some : alternate_) moved = some.reset() || moved;
    return arrays.reset() || moved;
  }

  Arrays<B> arrays;
  Loops<B> loops;
  TapeArena<B> lasting;  // until the tape forgets everything

 private:
  std::array<TapeArena<B>, 2> alternate_;
  bool recording_;
};

}  // namespace bahdanau::detail
