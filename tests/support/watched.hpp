// The CPU backend, watched while it adds to gradients: two threads that write to the same memory are counted.
// Additions can be made to take a while, so that what may happen at the same time does.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <thread>
#include <vector>

#include <bahdanau/backend/xtensor.hpp>

namespace bahdanau::test {

/// What `Watched` has seen.
class WatchedWrites {
 public:
  /// Additions, and those that began while another thread was writing to the same memory.
  inline static std::size_t additions = 0, clashes = 0;
  /// How long each addition waits in the middle.
  inline static std::chrono::microseconds pause{0};

  static void clear() { additions = clashes = 0; }

  /// One addition to an array [rows, cols], rows `stride` apart, as long as the object lives.
  template <class T>
  WatchedWrites(const T* begin, std::size_t rows, std::size_t cols, std::size_t stride)
      : begin_(reinterpret_cast<const char*>(begin)),
        rows_(rows),
        width_(cols * sizeof(T)),
        stride_(stride * sizeof(T)) {
    {
      const std::lock_guard lock(mutex_);
      ++additions;
      for (const WatchedWrites* other : active_) clashes += meets(*other);
      active_.push_back(this);
    }
    if (pause.count() > 0) std::this_thread::sleep_for(pause);
  }
  ~WatchedWrites() {
    const std::lock_guard lock(mutex_);
    active_.erase(std::find(active_.begin(), active_.end(), this));
  }
  WatchedWrites(const WatchedWrites&) = delete;
  WatchedWrites& operator=(const WatchedWrites&) = delete;

 private:
  bool meets(const WatchedWrites& other) const {
    for (std::size_t r = 0; r < rows_; ++r)
      for (std::size_t s = 0; s < other.rows_; ++s) {
        const char *here = begin_ + r * stride_, *there = other.begin_ + s * other.stride_;
        if (here < there + other.width_ && there < here + width_) return true;
      }
    return false;
  }

  inline static std::mutex mutex_;
  inline static std::vector<const WatchedWrites*> active_;
  const char* begin_;
  std::size_t rows_, width_, stride_;  // bytes
};

/// `Xtensor<T>` whose additions to gradients of weights are watched.
template <class T>
struct Watched : Xtensor<T> {
  using Base = Xtensor<T>;

  static void gemm(Transpose transpose_a, Transpose transpose_b, std::size_t m, std::size_t n, std::size_t k,
                   T alpha, const T* a, std::size_t lda, const T* b, std::size_t ldb, T beta, T* c,
                   std::size_t ldc) {
    const auto multiply = [&] {
      Base::gemm(transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    };
    if (transpose_a == Transpose::no) return multiply();  // not dW += dyᵀ x
    const WatchedWrites now(c, m, n, ldc);
    multiply();
  }
  static void add_product_of_rows(std::size_t m, std::size_t n, std::size_t k, const T* a, std::size_t lda,
                                  const T* b, std::size_t ldb, const Index* rows, T* c, std::size_t ldc) {
    const WatchedWrites now(c, m, n, ldc);
    Base::add_product_of_rows(m, n, k, a, lda, b, ldb, rows, c, ldc);
  }
  static void column_sum(std::size_t rows, std::size_t cols, const T* x, std::size_t stride, T* out) {
    const WatchedWrites now(out, 1, cols, cols);
    Base::column_sum(rows, cols, x, stride, out);
  }
  static void scatter_add(std::size_t rows, std::size_t cols, const T* x, const Index* index, T* out) {
    const auto last = static_cast<std::size_t>(*std::max_element(index, index + rows));
    const WatchedWrites now(out, 1, (last + 1) * cols, 0);
    Base::scatter_add(rows, cols, x, index, out);
  }
};

}  // namespace bahdanau::test
