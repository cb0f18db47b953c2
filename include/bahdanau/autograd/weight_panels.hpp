// The weights of a training as a packing backend lays them out, made when a product first asks for them.
// They last for a phase of a step, as the weights change with each; those of a model that is done are frozen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include <bahdanau/autograd/arena.hpp>
#include <bahdanau/autograd/weight_matrix.hpp>
#include <bahdanau/autograd/workspace.hpp>
#include <bahdanau/backend/packed_products.hpp>

namespace bahdanau {

/// The packed forms of one block of weights. Threads may ask at the same time; the first one packs.
template <Backend B>
class WeightPanels {
 public:
  using Scalar = typename B::Scalar;

  /// Forms lie in `workspace`, if given, for as long as that has room; it must outlive them.
  explicit WeightPanels(detail::Workspace<Scalar>* workspace = nullptr) : workspace_(workspace) {}

  /// Says which numbers the forms are of. Those of another state are forgotten, so no pass that uses them may
  /// be under way.
  void begin(const Scalar* weights, std::size_t size, std::uint64_t state) {
    const std::lock_guard lock(mutex_);
    if (begin_ == weights && size_ == size && state_ == state) return;
    forms_.clear();
    own_.reset();
    total_ = 0;
    begin_ = weights;
    size_ = size;
    state_ = state;
  }
  std::uint64_t state() const { return state_; }
  /// Elements of all forms.
  std::size_t size() const { return total_; }

  /// The packed form, valid until `begin`; null for a matrix that is not among the weights.
  const Scalar* get(const WeightMatrix<B>& matrix) {
    const std::lock_guard lock(mutex_);
    if (matrix.data < begin_ || matrix.data >= begin_ + size_) return nullptr;
    for (const Form& form : forms_)
      if (form.matrix == matrix) return form.packed;
    const std::size_t size = detail::PackedProducts<B>::size(matrix.k, matrix.n);
    Scalar* place = workspace_ != nullptr ? workspace_->take(size) : nullptr;
    if (place == nullptr) place = own_.allocate(size);
    detail::PackedProducts<B>::pack(matrix.op, matrix.k, matrix.n, matrix.data, matrix.stride, place);
    forms_.push_back({matrix, place});
    total_ += size;
    return place;
  }

 private:
  struct Form {
    WeightMatrix<B> matrix;
    Scalar* packed;
  };

  detail::Workspace<Scalar>* workspace_;
  const Scalar* begin_ = nullptr;
  std::size_t size_ = 0;
  std::uint64_t state_ = 0;
  std::mutex mutex_;
  std::vector<Form> forms_;
  detail::Arena<typename B::template Storage<Scalar>> own_;  // where the workspace has no room
  std::size_t total_ = 0;
};

}  // namespace bahdanau
