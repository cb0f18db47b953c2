// Device memory that is kept for the next one who asks: asking the device itself stops all its work.
// Which device it is, is the source's business.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>

namespace bahdanau::detail {

/// Blocks of memory from a `Source` (static `allocate(bytes)`, `free(place)`). Threads may share one.
template <class Source>
class BlockCache {
 public:
  /// Memory for `bytes`, from what was given back if some of it fits, else from the source. Where the source
  /// has no more, everything that is kept goes back to it first.
  void* allocate(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    const std::size_t size = round_up(bytes);
    const auto kept = free_.lower_bound(size);
    void* place = nullptr;
    if (kept != free_.end() && kept->first <= 2 * size) {
      place = kept->second;
      used_.emplace(place, kept->first);
      free_.erase(kept);
      return place;
    }
    try {
      place = Source::allocate(size);
    } catch (...) {
      if (free_.empty()) throw;
      release_kept();
      place = Source::allocate(size);
    }
    used_.emplace(place, size);
    return place;
  }

  /// Keeps a block for later.
  void give_back(void* place) {
    const std::lock_guard lock(mutex_);
    const auto used = used_.find(place);
    free_.emplace(used->second, place);
    used_.erase(used);
  }

  /// Gives all blocks that nobody uses back to the source.
  void release() {
    const std::lock_guard lock(mutex_);
    release_kept();
  }

 private:
  static constexpr std::size_t round_up(std::size_t bytes) {
    constexpr std::size_t step = 512;
    return (bytes + step - 1) / step * step;
  }
  void release_kept() {
    for (const auto& [size, place] : free_) Source::free(place);
    free_.clear();
  }

  std::mutex mutex_;
  std::multimap<std::size_t, void*> free_;
  std::map<void*, std::size_t> used_;
};

}  // namespace bahdanau::detail
