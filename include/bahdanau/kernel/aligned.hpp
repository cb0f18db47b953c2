// Memory that begins where the widest vectors may: at a multiple of 64 bytes.
// Storage of `Xtensor` and the products' workspaces come from it.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace bahdanau::kernel {

template <class T>
struct AlignedAllocator {
  using value_type = T;
  static constexpr std::align_val_t alignment{64};
  AlignedAllocator() = default;
  template <class U>
  AlignedAllocator(const AlignedAllocator<U>&) {}
  T* allocate(std::size_t n) {
    if (n > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(::operator new(n * sizeof(T), alignment));
  }
  void deallocate(T* place, std::size_t) { ::operator delete(place, alignment); }
  template <class U>
  struct rebind {
    using other = AlignedAllocator<U>;
  };
  friend bool operator==(const AlignedAllocator&, const AlignedAllocator&) { return true; }
};

template <class T>
using AlignedVector = std::vector<T, AlignedAllocator<T>>;

}  // namespace bahdanau::kernel
