// What a tape knows of its arrays: who made them, who reads them, and where their gradients lie.
// A gradient gets its memory when the first adjoint asks for it, and is 0 until somebody adds to it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <bahdanau/autograd/arena.hpp>
#include <bahdanau/autograd/variable.hpp>
#include <bahdanau/backend/backend.hpp>

namespace bahdanau::detail {

inline constexpr std::uint32_t no_slot = ~std::uint32_t{0};

/// The arrays that the steps of a loop make one behind the other: the k-th of each step, or a state.
template <class T>
struct Slot {
  T* value = nullptr;       // of step 0; a state has that of step -1 before it
  std::size_t before = 0;   // elements of step -1
  std::size_t total = 0;    // elements of all steps from 0 on
  std::size_t largest = 0;  // elements of the largest step
  std::uint32_t loop = 0;   // which loop it belongs to
  bool carried = false;     // whether each step reads that of the step before
  bool kept = false;        // whether something outside of its step reads it: it has a gradient for each step
  bool lasting = false;     // whether a weight's gradient does, which comes after all adjoints
  bool filled = false;      // whether the gradients of all steps from 0 on were
  bool some_filled = false;  // whether that of a step was by itself
  T* gradient = nullptr;     // of all steps, or of one (of two, where it is carried)
};

/// One array.
template <class T>
struct TapeArray {
  static constexpr std::int32_t all_steps = -2;

  T* value = nullptr;
  std::size_t size = 0;
  std::uint32_t slot = no_slot;
  std::int32_t step = 0;  // in its loop; -1 before the first one
  bool leaf = false;      // an input or a parameter: no adjoint reads its gradient
  bool parameter = false;
  bool constant = false;                     // made from constants alone: nobody reads its gradient
  bool dependent = false;                    // some of it was made from what has a gradient
  bool lasting = false;                      // see Slot
  bool needed = false;                       // whether an adjoint reads its value
  bool filled = false;                       // whether there is something in its gradient
  std::uint32_t readers = 0;                 // operations that have read it
  T *taken = nullptr, *taken_end = nullptr;  // which part of its memory was taken over; null: none
  std::size_t taker = 0;                     // by which operation at last
  T* gradient = nullptr;

  /// Whether a part can be taken over: beside the one that was, so that what is left is known.
  bool can_take(const T* begin, std::size_t count) const {
    return readers == 0 && !needed && (taken == nullptr || begin == taken_end || begin + count == taken);
  }
  bool overlaps_taken(const T* begin, std::size_t count) const {
    return taken != nullptr && begin < taken_end && begin + count > taken;
  }
  void take(T* begin, std::size_t count) {
    taken = taken == nullptr || begin < taken ? begin : taken;
    taken_end = taken_end == nullptr || begin + count > taken_end ? begin + count : taken_end;
  }
};

/// Memory that a tape may use for gradients until all adjoints were played.
template <class T>
struct Share {
  T* begin = nullptr;
  std::size_t size = 0;
};

/// A tape's arrays and their gradients.
template <Backend B>
class Arrays {
 public:
  using Scalar = typename B::Scalar;
  using Array = TapeArray<Scalar>;

  ArrayId add(const Array& array) {
    arrays_.push_back(array);
    return static_cast<ArrayId>(arrays_.size() - 1);
  }
  std::uint32_t add(const Slot<Scalar>& slot) {
    slots_.push_back(slot);
    return static_cast<std::uint32_t>(slots_.size() - 1);
  }
  Array& operator[](ArrayId id) { return arrays_[id]; }
  const Array& operator[](ArrayId id) const { return arrays_[id]; }
  Slot<Scalar>& slot(std::uint32_t id) { return slots_[id]; }
  std::size_t size() const { return arrays_.size(); }

  /// An operation reads an array: at a step of a loop, or outside of all (`loop` is then no_slot).
  void note_reader(ArrayId id, std::uint32_t loop, std::int32_t step) {
    Array& array = arrays_[id];
    ++array.readers;
    if (array.slot == no_slot) return;
    Slot<Scalar>& slot = slots_[array.slot];
    const bool same_step = slot.loop == loop && array.step == step,
               next_step = slot.loop == loop && array.step + 1 == step && slot.carried;
    if (!same_step && !next_step) slot.kept = true;
  }

  /// An operation that makes an array, or a part of it, reads something that has a gradient, or does not.
  void note_result(ArrayId id, bool dependent) {
    Array& array = arrays_[id];
    array.dependent = array.dependent || dependent;
    array.constant = !array.dependent;
  }

  /// A weight's gradient reads that of an array.
  void note_lasting(ArrayId id) {
    Array& array = arrays_[id];
    array.lasting = true;
    if (array.slot != no_slot) slots_[array.slot].lasting = slots_[array.slot].kept = true;
  }

  /// Where gradients may lie that no weight's gradient reads; they must have gone before it is used again.
  void use(const Share<Scalar>& share) {
    share_ = share;
    share_used_ = 0;
  }

  bool filled(ArrayId id) const {
    const Array& array = arrays_[id];
    return array.filled || (array.slot != no_slot && array.step != -1 && slots_[array.slot].filled);
  }
  void set_filled(ArrayId id) {
    Array& array = arrays_[id];
    if (array.step == Array::all_steps)
      slots_[array.slot].filled = true;
    else
      array.filled = true;
    if (array.slot != no_slot && array.step >= 0) slots_[array.slot].some_filled = true;
  }

  /// Whether all steps are asked for as one, and some of them have something in their gradients by
  /// themselves.
  bool parts_filled(ArrayId id) const {
    return arrays_[id].step == Array::all_steps && slots_[arrays_[id].slot].some_filled;
  }

  /// The place of an array's gradient, whatever is there.
  Scalar* place(ArrayId id) {
    Array& array = arrays_[id];
    if (array.gradient == nullptr) {
      array.gradient = find_place(array);
      if (array.taken != nullptr) {  // what nobody has taken gets no gradient, and stands for none
        B::fill(array.value, static_cast<std::size_t>(array.taken - array.value), Scalar(0));
        B::fill(array.taken_end, static_cast<std::size_t>(array.value + array.size - array.taken_end),
                Scalar(0));
      }
    }
    return array.gradient;
  }

  /// The same, with 0 in it if nobody has added anything yet.
  Scalar* gradient(ArrayId id) {
    Scalar* gradient = place(id);
    if (!filled(id)) {
      if (parts_filled(id))
        fill_other_steps(arrays_[id].slot);
      else if (arrays_[id].taken == nullptr)
        B::fill(gradient, arrays_[id].size, Scalar(0));
      set_filled(id);
    }
    return gradient;
  }

  /// The gradient of a variable, to read or to add to.
  Scalar* gradient(const Variable<B>& v) { return gradient(v.array) + offset(v); }
  /// The same for who stores all of it.
  Scalar* stored(const Variable<B>& v) {
    set_filled(v.array);
    return place(v.array) + offset(v);
  }
  bool is_whole(const Variable<B>& v) const { return v.size() == arrays_[v.array].size; }
  bool was_taken(const Variable<B>& v) const { return arrays_[v.array].overlaps_taken(v.value, v.size()); }

  /// Forgets all gradients; arrays stay.
  void clear_gradients() {
    for (Array& array : arrays_) {
      array.gradient = nullptr;
      array.filled = false;
    }
    for (Slot<Scalar>& slot : slots_) {
      slot.gradient = nullptr;
      slot.filled = slot.some_filled = false;
    }
    gradients_.reset();
    share_used_ = 0;
  }

  /// Forgets everything. As `Arena::reset`.
  bool reset() {
    arrays_.clear();
    slots_.clear();
    use({});
    return gradients_.reset();
  }

 private:
  std::size_t offset(const Variable<B>& v) const {
    return static_cast<std::size_t>(v.value - arrays_[v.array].value);
  }

  Scalar* find_place(const Array& array) {
    if (array.taken != nullptr) return array.value;  // who has taken it stores its gradient there
    if (array.slot == no_slot) return allocate(array.size, array.lasting || array.leaf);
    Slot<Scalar>& slot = slots_[array.slot];
    if (slot.kept) {
      if (slot.gradient == nullptr) slot.gradient = allocate(slot.before + slot.total, slot.lasting);
      return slot.gradient + slot.before + (array.value - slot.value);
    }
    // The adjoint that reads it comes before those of the step before: one step's memory serves all. While
    // the adjoints of a step read the gradient of its state, they add to that of the state before.
    const std::size_t apart = whole_lines<Scalar>(slot.largest);
    if (slot.gradient == nullptr) slot.gradient = allocate(slot.carried ? 2 * apart : slot.largest, false);
    return slot.gradient + (slot.carried && array.step % 2 != 0 ? apart : 0);
  }

  void fill_other_steps(std::uint32_t slot) {
    for (ArrayId id = 0; id < arrays_.size(); ++id)
      if (arrays_[id].slot == slot && arrays_[id].step >= 0 && !arrays_[id].filled)
        B::fill(place(id), arrays_[id].size, Scalar(0));
  }

  Scalar* allocate(std::size_t n, bool lasting) {
    const std::size_t needed = whole_lines<Scalar>(n);
    if (lasting || share_.size - share_used_ < needed) return gradients_.allocate(n);
    share_used_ += needed;
    return share_.begin + share_used_ - needed;
  }

  using Numbers = typename B::template Storage<Scalar>;
  std::vector<Array> arrays_;
  std::vector<Slot<Scalar>> slots_;
  Arena<Numbers> gradients_;
  Share<Scalar> share_;
  std::size_t share_used_ = 0;
};

}  // namespace bahdanau::detail
