// A block of memory whose owner does not need it for a while, lent out in pieces.
// Training lends the place of its gradients: nothing is added up there before the adjoints were played.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <mutex>
#include <utility>

namespace bahdanau::detail {

/// The block, and which parts of it are taken. Threads may ask at the same time.
template <class T>
class LentRoom {
 public:
  LentRoom(T* begin, std::size_t size) : begin_(begin), size_(size) {}
  LentRoom(const LentRoom&) = delete;
  LentRoom& operator=(const LentRoom&) = delete;

  /// Room for n elements, starting on a 64-byte boundary if the block does; null if no gap is as large.
  T* take(std::size_t n) {
    const std::lock_guard lock(mutex_);
    const std::size_t needed = round_up(n);
    std::size_t first = 0;
    for (const auto& [begin, end] : taken_) {
      if (begin - first >= needed) break;
      first = end;
    }
    if (size_ - first < needed) return nullptr;
    taken_.emplace(first, first + needed);
    return begin_ + first;
  }

  void give_back(const T* place) {
    const std::lock_guard lock(mutex_);
    taken_.erase(static_cast<std::size_t>(place - begin_));
  }

  bool holds(const T* place) const { return place >= begin_ && place < begin_ + size_; }

 private:
  static constexpr std::size_t round_up(std::size_t n) {
    constexpr std::size_t step = 64 / sizeof(T);
    return (std::max<std::size_t>(n, 1) + step - 1) / step * step;
  }

  T* begin_;
  std::size_t size_;
  std::mutex mutex_;
  std::map<std::size_t, std::size_t> taken_;  // from, to
};

/// Numbers that lie in a lent room if it has a gap for them, else in memory of their own.
template <class Storage>
class LentStorage {
 public:
  using Element = typename Storage::value_type;

  LentStorage() = default;
  explicit LentStorage(std::size_t n, LentRoom<Element>* room = nullptr)
      : size_(n), data_(room ? room->take(n) : nullptr), room_(data_ ? room : nullptr) {
    if (data_ != nullptr) return;
    own_ = Storage(n);
    data_ = own_.data();
  }
  ~LentStorage() {
    if (room_ != nullptr) room_->give_back(data_);
  }
  LentStorage(LentStorage&& other) noexcept { swap(other); }
  LentStorage& operator=(LentStorage&& other) noexcept {
    swap(other);
    return *this;
  }

  Element* data() { return data_; }
  const Element* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  void swap(LentStorage& other) noexcept {
    std::swap(own_, other.own_);
    std::swap(size_, other.size_);
    std::swap(data_, other.data_);
    std::swap(room_, other.room_);
  }

  Storage own_{};
  std::size_t size_ = 0;
  Element* data_ = nullptr;
  LentRoom<Element>* room_ = nullptr;
};

}  // namespace bahdanau::detail
