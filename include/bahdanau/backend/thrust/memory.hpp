// Where the arrays of a Thrust backend get their memory: from a cache in front of the device, which each
// system and observer has one of.
#pragma once

#include <cstddef>

#include <thrust/memory.h>
#include <thrust/mr/allocator.h>
#include <thrust/mr/memory_resource.h>

#include <bahdanau/backend/block_cache.hpp>
#include <bahdanau/backend/thrust/cuda.hpp>
#include <bahdanau/backend/thrust/system.hpp>

namespace bahdanau::detail {

/// Memory from a cache that lives as long as the program.
template <class System, class Observer>
class DeviceResource final : public thrust::mr::memory_resource<thrust::pointer<void, System>> {
 public:
  using pointer = thrust::pointer<void, System>;
  pointer do_allocate(std::size_t bytes, std::size_t) override {
    return pointer(
        on_device("allocating " + text(bytes) + " bytes", [&] { return cache().allocate(bytes); }));
  }
  void do_deallocate(pointer place, std::size_t, std::size_t) override {
    cache().give_back(thrust::raw_pointer_cast(place));
  }

  struct Source {
    static void* allocate(std::size_t bytes) {
      Observer::allocation(bytes);
      return ThrustSystem<System>::allocate(bytes);
    }
    static void free(void* place) { ThrustSystem<System>::free(place); }
  };
  // Never destroyed: at the end of a program CUDA may be gone before it.
  static BlockCache<Source>& cache() {
    static auto& blocks = *new BlockCache<Source>;
    return blocks;
  }
};

template <class U, class System, class Observer>
using DeviceAllocator = thrust::mr::stateless_resource_allocator<U, DeviceResource<System, Observer>>;

}  // namespace bahdanau::detail
