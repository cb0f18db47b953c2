// A permutation of 0, ..., n - 1 that only a key decides: all of it, or what it has at some places, for those
// who cannot keep all. Both are the permutation of Fisher and Yates.
#pragma once

#include <bit>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <bahdanau/core/random.hpp>

namespace bahdanau::detail {

/// For i = n, ..., 2 what is at place i - 1 is swapped with what is at place bits(i) mod i.
inline std::vector<std::size_t> shuffled(std::size_t n, random::Key key) {
  std::vector<std::size_t> order(n);
  for (std::size_t i = 0; i < n; ++i) order[i] = i;
  for (std::size_t i = n; i > 1; --i) std::swap(order[i - 1], order[key.bits(i) % i]);
  return order;
}

/// Who is at which place, for few of many: a hash table with linear probing.
class Occupants {
 public:
  explicit Occupants(std::size_t most) : slots_(std::bit_ceil(2 * most + 1), {nowhere, 0}) {}

  /// Puts someone at a place where nobody is.
  void put(std::size_t place, std::size_t who) {
    std::size_t i = home(place);
    while (slots_[i].place != nowhere) i = after(i);
    slots_[i] = {place, who};
  }
  /// Takes away who is there.
  std::size_t take(std::size_t place) {
    std::size_t i = home(place);
    while (slots_[i].place != place) i = after(i);
    const std::size_t who = slots_[i].who;
    // Whoever stands behind the gap and would no longer be found moves into it.
    for (std::size_t k = after(i); slots_[k].place != nowhere; k = after(k)) {
      if (distance(home(slots_[k].place), k) < distance(i, k)) continue;
      slots_[i] = slots_[k];
      i = k;
    }
    slots_[i].place = nowhere;
    return who;
  }
  /// Calls f(place, who) for all.
  template <class F>
  void for_each(F f) const {
    for (const Slot& slot : slots_)
      if (slot.place != nowhere) f(slot.place, slot.who);
  }

 private:
  struct Slot {
    std::size_t place, who;
  };
  static constexpr std::size_t nowhere = std::numeric_limits<std::size_t>::max();

  std::size_t home(std::size_t place) const { return random::mix(place) & (slots_.size() - 1); }
  std::size_t after(std::size_t i) const { return (i + 1) & (slots_.size() - 1); }
  std::size_t distance(std::size_t from, std::size_t to) const { return (to - from) & (slots_.size() - 1); }

  std::vector<Slot> slots_;
};

/// What `shuffled(n, key)` has at some places, which ascend: in memory for these, and a bit for each of all,
/// by going through all of its swaps.
inline std::vector<std::size_t> shuffled_at(std::size_t n, random::Key key,
                                            std::span<const std::size_t> places) {
  std::vector<std::size_t> found(places.size());
  if (places.empty()) return found;
  // From the last swap to the first: who ends at a place is followed back to where it began.
  Occupants followed(places.size());
  std::vector<bool> occupied(n);
  std::size_t next = 0;  // whom no swap has met yet: the first that does is that of i = place + 1
  for (std::size_t i = places[0] + 1; i <= n; ++i) {
    const std::size_t last = i - 1, other = static_cast<std::size_t>(key.bits(i) % i);
    if (occupied[other]) {
      followed.put(last, followed.take(other));
      occupied[last] = true;
      occupied[other] = false;
    }
    if (next == places.size() || places[next] != last) continue;
    followed.put(other, next++);
    occupied[other] = true;
  }
  followed.for_each([&](std::size_t place, std::size_t who) { found[who] = place; });
  return found;
}

}  // namespace bahdanau::detail
