// The adjoints of a pass, in the order of its operations: closures in an arena.
// They capture handles alone, so that forgetting them is a reset of the arena.
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include <bahdanau/autograd/arena.hpp>
#include <bahdanau/autograd/gradients.hpp>

namespace bahdanau::detail {

template <Backend B>
class Adjoints {
 public:
  template <class Adjoint>
  void add(Adjoint adjoint) {
    static_assert(std::is_trivially_destructible_v<Adjoint>,
                  "bahdanau: an adjoint may only capture handles: keep arrays on the tape");
    static_assert(alignof(Adjoint) <= alignof(std::max_align_t));
    constexpr std::size_t blocks = (sizeof(Adjoint) + sizeof(Block) - 1) / sizeof(Block);
    const auto* kept = ::new (static_cast<void*>(closures_.allocate(blocks))) Adjoint(std::move(adjoint));
    list_.push_back({[](const void* closure, Gradients<B>& gradients) {
                       (*static_cast<const Adjoint*>(closure))(gradients);
                     },
                     kept});
  }
  std::size_t size() const { return list_.size(); }
  void play(std::size_t i, Gradients<B>& gradients) const { list_[i].play(list_[i].closure, gradients); }

  /// As `Arena::reset`.
  bool reset() {
    list_.clear();
    return closures_.reset();
  }

 private:
  struct Entry {
    void (*play)(const void*, Gradients<B>&);
    const void* closure;
  };
  struct alignas(std::max_align_t) Block {
    std::byte bytes[sizeof(std::max_align_t)];
  };

  Arena<std::vector<Block>> closures_;
  std::vector<Entry> list_;
};

}  // namespace bahdanau::detail
