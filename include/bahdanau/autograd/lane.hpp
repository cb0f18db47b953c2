// Lanes: arrays of one kind, one behind the other in memory in the order in which they are made.
// So the steps of a recurrent layer are the rows of one tall matrix, and nothing is copied together.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <bahdanau/autograd/arena.hpp>
#include <bahdanau/backend/backend.hpp>

namespace bahdanau {

/// What arrays of one kind share: the weight that they are made with or for, and which of its arrays they
/// are. Without a weight it is no lane.
template <Backend B>
struct Lane {
  const typename B::Scalar* weight = nullptr;
  enum class Kind { product, used_up, state, memory, context, dropout } kind = Kind::product;
  /// Whether its arrays go from one operation to the next, which is a product, and nowhere else.
  bool passed_on() const { return kind == Kind::context || kind == Kind::dropout; }
  /// Whether nothing but adjoints reads its gradients. Those of a product are needed longer: for that of its
  /// weight, which is put off.
  bool passing() const { return kind != Kind::product && kind != Kind::used_up; }
  friend bool operator==(const Lane&, const Lane&) = default;
};

namespace detail {

/// The memory of all lanes of a tape.
template <Backend B>
class LaneRooms {
 public:
  using Scalar = typename B::Scalar;

  /// Gradients that are `passing` lie in `room`, if given.
  explicit LaneRooms(LentRoom<Scalar>* room = nullptr) : room_(room) {}

  struct Place {
    Scalar *value, *gradient;
  };

  /// Room for an array. The gradient of what is used up takes the place of its value; the gradients of what
  /// is passed on share one place, as the adjoint that reads one comes right after the adjoint that stores
  /// it.
  Place allocate(const Lane<B>& lane, std::size_t n) {
    Room& room = find(lane);
    Scalar* value = room.values.allocate_next(n);
    if (lane.kind == Lane<B>::Kind::used_up) return {value, value};
    if (!lane.passed_on()) return {value, room.gradients.allocate_next(n)};
    if (room.shared_size < n) {
      room.shared = room.gradients.allocate_next(n);
      room.shared_size = n;
    }
    return {value, room.shared};
  }

  /// Calls f(pointer, count) for all gradients that adjoints add to.
  template <class F>
  void for_gradients(F f) {
    for (Room& room : rooms_)
      if (!room.lane.passed_on()) room.gradients.for_used(f);
  }

  bool fragmented() const {
    return std::any_of(rooms_.begin(), rooms_.end(), [](const Room& room) {
      return room.values.fragmented() || room.gradients.fragmented();
    });
  }

  /// As `Arena::reset`.
  bool reset() {
    bool moved = false;
    for (Room& room : rooms_) {
      moved = room.values.reset() || moved;
      moved = room.gradients.reset() || moved;
      room.shared_size = 0;
    }
    return moved;
  }

 private:
  using Numbers = Arena<typename B::template Storage<Scalar>>;
  struct Room {
    Lane<B> lane;
    Numbers values, gradients;
    Scalar* shared = nullptr;
    std::size_t shared_size = 0;
  };

  Room& find(const Lane<B>& lane) {
    for (Room& room : rooms_)
      if (room.lane == lane) return room;
    return rooms_.emplace_back(Room{lane, Numbers(), Numbers(lane.passing() ? room_ : nullptr), nullptr, 0});
  }

  LentRoom<Scalar>* room_;
  std::vector<Room> rooms_;  // a few for each weight
};

}  // namespace detail
}  // namespace bahdanau
