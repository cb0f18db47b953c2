// The memory of a training step's gradients while nobody adds up gradients there: an arena with phases.
// What lies in it belongs to one phase, and is forgotten when the next one begins.
#pragma once

#include <cstddef>
#include <mutex>

#include <bahdanau/autograd/arena.hpp>
#include <bahdanau/autograd/arrays.hpp>

namespace bahdanau::detail {

/// What happens in a training step until the gradients of weights are added up. Weights are packed for
/// `forward`; then come the logits of `loss`; then weights are packed for `adjoint`, while gradients that
/// only adjoints read lie in shares, one for each tape, which the loss begins to fill.
enum class Phase { forward, loss, adjoint };

template <class T>
class Workspace {
 public:
  Workspace(T* begin, std::size_t size) : begin_(begin), end_(size), size_(size) {}
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  void begin(Phase phase) {
    if (phase == Phase::forward) end_ = size_;
    used_ = 0;
  }

  /// Memory for n elements until the phase ends, starting on a 64-byte boundary if the memory does; null if
  /// there is not as much left. Threads may ask at the same time.
  T* take(std::size_t n) {
    const std::lock_guard lock(mutex_);
    const std::size_t needed = whole_lines<T>(n);
    if (end_ - used_ < needed) return nullptr;
    used_ += needed;
    return begin_ + used_ - needed;
  }

  /// Cuts what lies between the first `reserved` elements and `limit` into equal shares, which last until
  /// `forward` begins. Behind the limit nobody gets anything.
  void share(std::size_t reserved, std::size_t limit, std::size_t count) {
    limit = limit / line * line;
    end_ = reserved < limit ? whole_lines<T>(reserved) : limit;
    each_ = (limit - end_) / count / line * line;
  }
  Share<T> share_of(std::size_t i) const { return {begin_ + end_ + i * each_, each_}; }

 private:
  static constexpr std::size_t line = line_elements<T>;

  T* begin_;
  std::size_t end_, size_, used_ = 0, each_ = 0;
  std::mutex mutex_;
};

/// Numbers in a workspace where they fit, else in memory of their own, which is kept.
template <class Storage>
class WorkspaceNumbers {
 public:
  using Element = typename Storage::value_type;

  Element* allocate(std::size_t n, Workspace<Element>* workspace) {
    data_ = workspace != nullptr ? workspace->take(n) : nullptr;
    if (data_ != nullptr) return data_;
    if (own_.size() < n) {
      own_ = {};  // before there is more
      own_ = Storage(n);
    }
    return data_ = own_.data();
  }
  Element* data() { return data_; }
  const Element* data() const { return data_; }

 private:
  Storage own_{};
  Element* data_ = nullptr;
};

}  // namespace bahdanau::detail
