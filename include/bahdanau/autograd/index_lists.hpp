// Row numbers and token ids on the device, which live as long as a tape's arrays.
// Lists can be staged, so that several reach the device in one copy.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <bahdanau/autograd/arena.hpp>
#include <bahdanau/backend/backend.hpp>

namespace bahdanau::detail {

template <Backend B>
class IndexLists {
 public:
  /// Uninitialised.
  Index* allocate(std::size_t count) { return indices_.allocate(count); }

  const Index* keep(std::span<const Index> host) {
    Index* place = allocate(host.size());
    B::upload(host.data(), host.size(), place);
    return place;
  }

  /// Nothing may read the copy before `send`.
  const Index* stage(std::span<const Index> host) {
    Index* place = indices_.allocate_next(host.size());
    if (!staged_.empty() && place != begin_ + staged_.size()) send();
    if (staged_.empty()) begin_ = place;
    staged_.insert(staged_.end(), host.begin(), host.end());
    return place;
  }
  void send() {
    B::upload(staged_.data(), staged_.size(), begin_);
    staged_.clear();
  }

  /// As `Arena::reset`.
  bool reset() {
    staged_.clear();
    return indices_.reset();
  }

 private:
  Arena<typename B::template Storage<Index>> indices_;
  std::vector<Index> staged_;  // for what begins there
  Index* begin_ = nullptr;
};

}  // namespace bahdanau::detail
