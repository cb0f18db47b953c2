// A model's weights as a tape sees them: their values, where their gradients go, and their packed forms.
// What belongs to one pass of one tape is here; what tapes share is in weight_panels.hpp and
// frozen_weights.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <bahdanau/autograd/arrays.hpp>
#include <bahdanau/autograd/frozen_weights.hpp>
#include <bahdanau/autograd/parameter.hpp>
#include <bahdanau/autograd/row_products.hpp>
#include <bahdanau/autograd/weight_gradient.hpp>
#include <bahdanau/autograd/weight_panels.hpp>
#include <bahdanau/core/parallel.hpp>

namespace bahdanau {

/// What a tape is bound to.
template <Backend B>
struct WeightBinding {
  using Scalar = typename B::Scalar;
  const Scalar* weights = nullptr;
  Scalar* gradients = nullptr;                 // of the weights; null: none are wanted
  WeightPanels<B>* panels = nullptr;           // packed forms for products, where a backend packs; or null
  Workers* helpers = nullptr;                  // who share products of large weights with few rows; or null
  const FrozenWeights<B>* frozen = nullptr;    // in place of `weights` and `panels`
  detail::RowProducts<B>* products = nullptr;  // of frozen weights with words that come again; or null
  WeightTrace<B>* trace = nullptr;             // who notes what `weights` are used for; or null
};

namespace detail {

template <Backend B>
class BoundWeights {
 public:
  using Scalar = typename B::Scalar;

  /// `block` is an array of the tape that all parameters are parts of, or no_array.
  void bind(const WeightBinding<B>& binding, ArrayId block = no_array) {
    bound_ = binding;
    block_ = block;
  }
  bool bound() const { return bound_.weights != nullptr || bound_.frozen != nullptr; }

  // Adjoints write to gradients only: a bound weight is never written through its variable.
  Scalar* value(const Parameter& p) const {
    if (bound_.frozen != nullptr) return const_cast<Scalar*>(bound_.frozen->plain(p));
    if (bound_.trace != nullptr) bound_.trace->read(p);
    return const_cast<Scalar*>(bound_.weights) + p.offset;
  }
  /// The same for products alone: what stands there may be packed.
  Scalar* weight(const Parameter& p) const {
    return const_cast<Scalar*>(bound_.frozen != nullptr ? bound_.frozen->handle(p)
                                                        : bound_.weights + p.offset);
  }
  /// A weight that products have been given, where it can be read as it lies.
  WeightMatrix<B> readable(const WeightMatrix<B>& matrix) const {
    return bound_.frozen != nullptr ? bound_.frozen->readable(matrix) : matrix;
  }
  Scalar* gradient_place(const Scalar* value) const { return bound_.gradients + (value - bound_.weights); }

  /// The array that a parameter is on a tape that records: one for all its uses.
  ArrayId array(const Parameter& p, Arrays<B>& arrays) {
    if (bound_.gradients == nullptr) return block_;
    for (const Bound& known : parameters_)
      if (known.offset == p.offset && known.size == p.shape.size()) return known.array;
    const ArrayId array =
        arrays.add({.value = value(p), .size = p.shape.size(), .leaf = true, .parameter = true});
    return parameters_.emplace_back(Bound{p.offset, p.shape.size(), array}).array;
  }
  /// Where adjoints have left gradients of parameters that are not products with them.
  void find_added(Arrays<B>& arrays, std::vector<AddedGradient<B>>& added) const {
    added.clear();
    for (const Bound& p : parameters_)
      if (arrays.filled(p.array))
        added.push_back({gradient_place(arrays[p.array].value), arrays.place(p.array), p.size});
  }

  /// The packed form of some of the weights, or null if they are multiplied as they lie.
  const Scalar* packed(const WeightMatrix<B>& matrix) {
    if (bound_.trace != nullptr) bound_.trace->multiply(matrix);
    if (bound_.panels == nullptr && bound_.frozen == nullptr) return nullptr;
    if (bound_.panels != nullptr && state_ != bound_.panels->state()) {
      packed_.clear();
      state_ = bound_.panels->state();
    }
    for (const Packed& known : packed_)
      if (known.matrix == matrix) return known.data;
    const Scalar* found = bound_.frozen ? bound_.frozen->packed(matrix) : bound_.panels->get(matrix);
    return packed_.emplace_back(Packed{matrix, found}).data;
  }

  /// A table [rows, n] in which the rows `wanted` hold their products; null where none is kept.
  const Scalar* row_products(const RowProduct<B>& product, const WeightMatrix<B>& matrix,
                             std::span<const Index> wanted) {
    if (bound_.products == nullptr || product.size() > RowProduct<B>::largest) return nullptr;
    const Scalar* form = packed(matrix);
    return form != nullptr ? bound_.products->get(product, form, wanted) : nullptr;
  }

  /// Whether somebody shares the work on products of few rows.
  bool has_helpers() const { return bound_.helpers != nullptr && bound_.helpers->threads() > 1; }

  /// Calls f(first, count) for all columns of op(W), in one piece or shared with the helpers. Each of them
  /// reads a part of the weight, which is what takes the time where there are few rows.
  ///
  /// A packing backend gives a column the same bits in any piece, so pieces follow the helpers. Elsewhere the
  /// pieces follow from the sizes alone, helpers or not: their number must not change a bit.
  template <class F>
  void share_columns(const WeightMatrix<B>& w, F f) {
    constexpr std::size_t worth_it = 1 << 18;  // elements: reading them takes longer than waking a helper
    Workers* helpers = bound_.helpers;
    std::size_t unit = 16, pieces = 1;
    if (PackedProducts<B>::packs()) {
      unit = PackedProducts<B>::columns();
      if (helpers != nullptr && w.k * w.n >= worth_it) pieces = helpers->threads();
    } else if (w.k * w.n >= worth_it) {
      constexpr std::size_t most = 16;
      pieces = std::min(most, w.k * w.n / (worth_it / 2));
    }
    const std::size_t units = (w.n + unit - 1) / unit;
    pieces = std::min(pieces, units);
    const auto begin = [&](std::size_t i) { return std::min(i * units / pieces * unit, w.n); };
    const auto piece = [&](std::size_t i) { f(begin(i), begin(i + 1) - begin(i)); };
    if (helpers == nullptr || pieces == 1)
      for (std::size_t i = 0; i < pieces; ++i) piece(i);
    else
      helpers->run(pieces, piece);
  }

  /// Forgets what the last pass has asked for.
  void reset() {
    packed_.clear();
    parameters_.clear();
  }

 private:
  struct Packed {
    WeightMatrix<B> matrix;
    const Scalar* data;
  };

  struct Bound {
    std::size_t offset, size;
    ArrayId array;
  };

  WeightBinding<B> bound_;
  ArrayId block_ = no_array;
  std::vector<Bound> parameters_;  // that the tape has an array for
  std::vector<Packed> packed_;     // those that this pass has asked for
  std::uint64_t state_ = 0;        // of the weights then
};

}  // namespace detail
}  // namespace bahdanau
