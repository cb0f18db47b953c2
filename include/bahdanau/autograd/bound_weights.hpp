// A model's weights as a tape sees them: their values, where their gradients go, and their packed forms.
// What belongs to one pass of one tape is here; what tapes share is in weight_panels.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <span>
#include <vector>

#include <bahdanau/autograd/parameter.hpp>
#include <bahdanau/autograd/variable.hpp>
#include <bahdanau/autograd/weight_panels.hpp>
#include <bahdanau/core/parallel.hpp>

namespace bahdanau {

/// What a tape is bound to.
template <Backend B>
struct WeightBinding {
  using Scalar = typename B::Scalar;
  const Scalar* weights = nullptr;
  Scalar* gradients = nullptr;        // of the weights; null: none are wanted
  WeightPanels<B>* panels = nullptr;  // packed forms for products, where a backend packs; or null
  Scalar* own_gradients = nullptr;    // room for as many; with it, `gradients` gets only what is put off
  Workers* helpers = nullptr;         // who share products of large weights with few rows; or null
};

namespace detail {

template <Backend B>
class BoundWeights {
 public:
  using Scalar = typename B::Scalar;

  void bind(const WeightBinding<B>& binding) { bound_ = binding; }
  bool bound() const { return bound_.weights != nullptr; }

  // Adjoints write to gradients only: a bound weight is never written through its variable.
  Scalar* value(const Parameter& p) const { return const_cast<Scalar*>(bound_.weights) + p.offset; }

  GradientPointer<B> gradient(const Parameter& p) {
    if (bound_.gradients == nullptr) return {};
    if (bound_.own_gradients == nullptr) return {bound_.gradients + p.offset};
    Scalar* place = bound_.own_gradients + p.offset;
    for (OwnGradient<B>& own : own_)
      if (own.data == place && own.size == p.shape.size()) return {place, &own};
    return {place, &own_.emplace_back(OwnGradient<B>{place, p.shape.size()})};
  }

  /// Where what is put off for a leaf goes.
  Scalar* deferred_place(const Variable<B>& leaf) const {
    Scalar* place = leaf.gradient.place();
    return leaf.gradient.is_own() ? bound_.gradients + (place - bound_.own_gradients) : place;
  }

  /// Calls f(offset in the weights, gradient, count) for each parameter that an adjoint has written to
  /// itself.
  template <class F>
  void for_own_gradients(F f) const {
    for (const OwnGradient<B>& own : own_)
      if (own.used) f(static_cast<std::size_t>(own.data - bound_.own_gradients), own.data, own.size);
  }

  /// The packed form of some of the weights, or null if they are multiplied as they lie.
  const Scalar* packed(const WeightMatrix<B>& matrix) {
    if (bound_.panels == nullptr) return nullptr;
    for (const Packed& known : packed_)
      if (known.matrix == matrix) return known.data;
    return packed_.emplace_back(Packed{matrix, bound_.panels->get(matrix)}).data;
  }

  /// The products of some rows of an embedding with a weight, or null: see WeightPanels.
  const Scalar* row_products(const RowProduct<B>& product, const WeightMatrix<B>& matrix,
                             std::span<const Index> wanted) {
    return bound_.panels ? bound_.panels->row_products(product, matrix, wanted) : nullptr;
  }

  /// Has all forms asked for again: those of before were retired.
  void forget_packed() { packed_.clear(); }

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
    if (detail::PackedProducts<B>::packs()) {
      unit = detail::PackedProducts<B>::columns();
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

  /// Sets what adjoints have written to 0.
  void clear_own_gradients() {
    for (OwnGradient<B>& own : own_)
      if (own.used) B::fill(own.data, own.size, Scalar(0));
  }

  /// Forgets what the last pass has used.
  void reset() {
    packed_.clear();
    for (OwnGradient<B>& own : own_) own.used = false;
  }

 private:
  struct Packed {
    WeightMatrix<B> matrix;
    const Scalar* data;
  };

  WeightBinding<B> bound_;
  std::vector<Packed> packed_;      // those that this pass has asked for
  std::deque<OwnGradient<B>> own_;  // variables point into it
};

}  // namespace detail
}  // namespace bahdanau
