// A model's weights as a packing backend lays them out, made when a product first asks for them.
// Tapes that translate share a model's, training's have their own; made again when the weights have changed.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <span>

#include <bahdanau/autograd/lent_room.hpp>
#include <bahdanau/autograd/row_products.hpp>
#include <bahdanau/backend/packed_products.hpp>
#include <bahdanau/core/fork.hpp>

namespace bahdanau {

/// op(W) [k, n] of the weights, or of some of their columns, that products share.
template <Backend B>
struct WeightMatrix {
  using Scalar = typename B::Scalar;
  const Scalar* data = nullptr;  // W, rows `stride` apart
  std::size_t k = 0, n = 0, stride = 0;
  Transpose op = Transpose::no;
  friend bool operator==(const WeightMatrix&, const WeightMatrix&) = default;
};

/// The packed forms of one model's weights. Threads may ask at the same time; the first one packs.
template <Backend B>
class WeightPanels {
 public:
  using Scalar = typename B::Scalar;

  /// Forms lie in `room`, if given, for as long as that has some; it must outlive them.
  explicit WeightPanels(detail::LentRoom<Scalar>* room = nullptr) : room_(room) {}
  // They belong to one block of weights: a copy of the model makes its own.
  WeightPanels(const WeightPanels&) {}
  WeightPanels& operator=(const WeightPanels&) {
    Kept& mine = kept();
    mine.forms.clear();
    mine.products = {};
    return *this;
  }
  ~WeightPanels() { kept(); }

  /// Says where the weights lie and which state they are in. Forms of an earlier state are made again when
  /// they are asked for, so no pass over the earlier weights may be under way.
  void watch(const Scalar* weights, std::size_t size, std::uint64_t version) {
    Kept& mine = kept();
    const std::lock_guard lock(mine.mutex);
    begin_ = weights;
    end_ = weights + size;
    state_.version = version;
  }

  /// Says that nobody needs the forms made so far: others may take their room. Training does so before each
  /// of its two passes, which need different ones.
  void retire() {
    Kept& mine = kept();
    const std::lock_guard lock(mine.mutex);
    ++state_.round;
  }

  /// The packed form, valid until the weights change or forms are retired; null for a matrix that is not
  /// among them.
  const Scalar* get(const WeightMatrix<B>& matrix) {
    Kept& mine = kept();
    const std::lock_guard lock(mine.mutex);
    return packed(matrix);
  }

  /// A table [rows, n] in which the rows `wanted` hold their products, until the weights change; null where
  /// none is kept.
  const Scalar* row_products(const RowProduct<B>& product, const WeightMatrix<B>& matrix,
                             std::span<const Index> wanted) {
    Kept& mine = kept();
    const std::lock_guard lock(mine.mutex);
    const Scalar* form = product.size() <= RowProduct<B>::largest ? packed(matrix) : nullptr;
    return form ? mine.products.get(product, form, state_.version, wanted) : nullptr;
  }

 private:
  struct State {
    std::uint64_t version = 0, round = 0;
    friend bool operator==(const State&, const State&) = default;
  };
  struct Form {
    WeightMatrix<B> matrix;
    detail::LentStorage<typename B::template Storage<Scalar>> packed;
    State state;
  };

  struct Kept {
    std::mutex mutex;
    std::list<Form> forms;  // a list: threads keep pointers into it while others add to it
    detail::RowProducts<B> products;
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

  const Scalar* packed(const WeightMatrix<B>& matrix) {
    if (matrix.data < begin_ || matrix.data >= end_) return nullptr;
    for (Form& form : kept_->forms)
      if (form.state == state_ && form.matrix == matrix) return form.packed.data();
    Form& form = find_room(detail::PackedProducts<B>::size(matrix.k, matrix.n));
    detail::PackedProducts<B>::pack(matrix.op, matrix.k, matrix.n, matrix.data, matrix.stride,
                                    form.packed.data());
    form.matrix = matrix;
    form.state = state_;
    return form.packed.data();
  }

  /// The smallest form that nobody needs and that is large enough, but no room for two, or a new one.
  Form& find_room(std::size_t size) {
    Form* best = nullptr;
    for (Form& form : kept_->forms)
      if (form.state != state_ && form.packed.size() >= size && form.packed.size() < 2 * size &&
          (best == nullptr || form.packed.size() < best->packed.size()))
        best = &form;
    if (best != nullptr) return *best;
    // Some more, so that the same weight has room when it is packed for its transposed product.
    using Numbers = detail::LentStorage<typename B::template Storage<Scalar>>;
    return kept_->forms.emplace_back(Form{{}, Numbers(size + size / 32, room_), {}});
  }

  detail::LentRoom<Scalar>* room_ = nullptr;
  const Scalar *begin_ = nullptr, *end_ = nullptr;
  State state_;
  std::unique_ptr<Kept> kept_ = std::make_unique<Kept>();
  std::atomic<std::uint64_t> process_{detail::Forks::count()};  // that has used it last
};

}  // namespace bahdanau
