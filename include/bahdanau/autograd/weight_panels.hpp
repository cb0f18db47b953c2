// The weights of a training as a packing backend lays them out, made when a product first asks for them.
// They last for a phase of a step, as the weights change with each; those of a model that is done are frozen.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include <bahdanau/autograd/arena.hpp>
#include <bahdanau/autograd/weight_matrix.hpp>
#include <bahdanau/autograd/workspace.hpp>
#include <bahdanau/backend/packed_products.hpp>
#include <bahdanau/core/fork.hpp>

namespace bahdanau {

/// The packed forms of one block of weights. Threads may ask at the same time; the first one packs.
template <Backend B>
class WeightPanels {
 public:
  using Scalar = typename B::Scalar;

  /// Forms lie in `workspace`, if given, for as long as that has room; it must outlive them.
  explicit WeightPanels(detail::Workspace<Scalar>* workspace = nullptr) : workspace_(workspace) {}
  // They belong to one block of weights: a copy of the model makes its own.
  WeightPanels(const WeightPanels&) {}
  WeightPanels& operator=(const WeightPanels&) {
    kept().forget();
    state_ = 0;
    return *this;
  }
  ~WeightPanels() { kept(); }

  /// Says which numbers the forms are of. Those of another state are forgotten, so no pass that uses them may
  /// be under way.
  void begin(const Scalar* weights, std::size_t size, std::uint64_t state) {
    Kept& mine = kept();
    const std::lock_guard lock(mine.mutex);
    if (begin_ == weights && size_ == size && state_ == state) return;
    mine.forget();
    begin_ = weights;
    size_ = size;
    state_ = state;
  }
  std::uint64_t state() const { return state_; }
  /// Elements of all forms.
  std::size_t size() { return kept().total; }

  /// The packed form, valid until `begin`; null for a matrix that is not among the weights.
  const Scalar* get(const WeightMatrix<B>& matrix) {
    Kept& mine = kept();
    const std::lock_guard lock(mine.mutex);
    return packed(mine, matrix);
  }

 private:
  struct Form {
    WeightMatrix<B> matrix;
    Scalar* packed;
  };

  struct Kept {
    std::mutex mutex;
    std::vector<Form> forms;
    detail::Arena<typename B::template Storage<Scalar>> own;  // where the workspace has no room
    std::size_t total = 0;

    void forget() {
      forms.clear();
      own.reset();
      total = 0;
    }
  };

  /// What is kept in this process. In the child of a `fork`, what a thread was changing that is not there any
  /// more is left as it is.
  Kept& kept() {
    if (process_.load(std::memory_order_acquire) == detail::Forks::count()) return *kept_;
    const std::lock_guard once(detail::Forks::mutex());
    if (process_ != detail::Forks::count()) {
      if (kept_->mutex.try_lock()) {
        kept_->mutex.unlock();
      } else {
        auto own = std::make_unique<Kept>();
        kept_.swap(own);
        [[maybe_unused]] const Kept* lost = own.release();
      }
      process_ = detail::Forks::count();
    }
    return *kept_;
  }

  const Scalar* packed(Kept& mine, const WeightMatrix<B>& matrix) {
    if (matrix.data < begin_ || matrix.data >= begin_ + size_) return nullptr;
    for (const Form& form : mine.forms)
      if (form.matrix == matrix) return form.packed;
    const std::size_t size = detail::PackedProducts<B>::size(matrix.k, matrix.n);
    Scalar* place = workspace_ != nullptr ? workspace_->take(size) : nullptr;
    if (place == nullptr) place = mine.own.allocate(size);
    detail::PackedProducts<B>::pack(matrix.op, matrix.k, matrix.n, matrix.data, matrix.stride, place);
    mine.forms.push_back({matrix, place});
    mine.total += size;
    return place;
  }

  detail::Workspace<Scalar>* workspace_ = nullptr;
  const Scalar* begin_ = nullptr;
  std::size_t size_ = 0;
  std::uint64_t state_ = 0;
  std::unique_ptr<Kept> kept_ = std::make_unique<Kept>();
  std::atomic<std::uint64_t> process_{detail::Forks::count()};  // that has used it last
};

}  // namespace bahdanau
