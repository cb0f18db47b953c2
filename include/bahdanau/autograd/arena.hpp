// Memory that grows in chunks and is given back all at once: what a tape stores its arrays in.
// After the first pass one chunk holds everything, so a repeated pass of the same size allocates nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace bahdanau::detail {

/// Elements in a cache line.
template <class T>
inline constexpr std::size_t line_elements = sizeof(T) >= 64 ? 1 : 64 / sizeof(T);

/// n, or as many more as fill the last cache line.
template <class T>
constexpr std::size_t whole_lines(std::size_t n) {
  return (n + line_elements<T> - 1) / line_elements<T> * line_elements<T>;
}

/// A bump allocator over `Storage` (constructible from a count, `data()`, `size()`); pointers stay valid
/// until `reset`.
template <class Storage>
class Arena {
 public:
  using Element = typename Storage::value_type;

  /// Uninitialised memory for n elements, starting on a 64-byte boundary of its chunk.
  Element* allocate(std::size_t n) { return allocate_next(whole_lines<Element>(n)); }

  /// The same without a gap behind what was allocated last, if they fit into the chunk.
  Element* allocate_next(std::size_t needed) {
    while (current_ < chunks_.size() && chunks_[current_].size() - used_ < needed) {
      filled_ += used_;
      ++current_;
      used_ = 0;
    }
    if (current_ == chunks_.size()) {
      const std::size_t usual = chunks_.empty() ? wanted_ : 2 * chunks_.back().size();
      chunks_.emplace_back(std::max({needed, usual, smallest_chunk}));
    }
    Element* place = chunks_[current_].data() + used_;
    used_ += needed;
    return place;
  }

  /// Forgets all allocations; what took several chunks takes one next time. Says whether it was so: then the
  /// memory is given back already, and taken again with the next allocation.
  bool reset() {
    const bool several = chunks_.size() > 1;
    if (several) {
      const std::size_t total = filled_ + used_;
      wanted_ = total + total / 16;  // some more, so that a batch that is a little longer still fits
      chunks_.clear();
    }
    current_ = used_ = filled_ = 0;
    return several;
  }

  /// Elements of all chunks.
  std::size_t capacity() const {
    std::size_t total = 0;
    for (const Storage& chunk : chunks_) total += chunk.size();
    return total;
  }

 private:
  static constexpr std::size_t smallest_chunk = 4096;

  std::vector<Storage> chunks_;
  // In use: of the current chunk, and of those before it.
  std::size_t current_ = 0, used_ = 0, filled_ = 0, wanted_ = 0;
};

}  // namespace bahdanau::detail
