// The tape: operations write their results on it and leave an adjoint; played backwards it gives gradients.
// It plays in a loop, not by recursion, so its length is bounded by memory alone.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <bahdanau/autograd/arena.hpp>
#include <bahdanau/autograd/bound_weights.hpp>
#include <bahdanau/autograd/host_copy.hpp>
#include <bahdanau/autograd/lane.hpp>
#include <bahdanau/autograd/parameter.hpp>
#include <bahdanau/autograd/variable.hpp>
#include <bahdanau/autograd/weight_gradient.hpp>
#include <bahdanau/backend/backend.hpp>
#include <bahdanau/core/array.hpp>
#include <bahdanau/core/error.hpp>

namespace bahdanau {

/// Records operations and plays their adjoints. One tape belongs to one thread.
///
/// An operation allocates its result with `variable`, computes it at once, and hands `record` a closure that
/// adds to its arguments' gradients what its result's gradient says. Arrays and closures live in arenas:
/// after `reset` the same pass allocates nothing.
template <Backend B>
class Tape {
 public:
  using Scalar = typename B::Scalar;
  enum class Mode : bool { record, infer };

  /// A tape without parameters, for expressions over `leaf` variables. Gradients that nothing but adjoints
  /// reads lie in `room`, if given, which must outlive the tape.
  explicit Tape(Mode mode = Mode::record, detail::LentRoom<Scalar>* room = nullptr)
      : recording_(mode == Mode::record), room_(room), passing_(room), lanes_(room) {}

  /// A tape for inference with a model's weights: nothing is recorded.
  explicit Tape(const WeightBinding<B>& binding) : recording_(false) { weights_.bind(binding); }
  explicit Tape(const Scalar* weights) : Tape(WeightBinding<B>{.weights = weights}) {}

  Tape(const Tape&) = delete;  // variables point to their tape
  Tape& operator=(const Tape&) = delete;

  /// Lets `tape[p]` read a model's weights and, if `gradients` is not null, add to their gradients.
  void bind(const Scalar* weights, Scalar* gradients) { bind({.weights = weights, .gradients = gradients}); }
  void bind(const WeightBinding<B>& binding) { weights_.bind(binding); }
  /// What the operations that use weights need to know of them.
  detail::BoundWeights<B>& weights() { return weights_; }
  const detail::BoundWeights<B>& weights() const { return weights_; }

  bool recording() const { return recording_; }

  /// A new uninitialised array; its gradient starts at 0 when the tape is played.
  Variable<B> variable(Shape shape) {
    Variable<B> v = constant(shape);
    if (recording_) v.gradient = gradients_.allocate(shape.size());
    return v;
  }

  /// The same, with a gradient that nothing but adjoints reads: `defer` refuses it.
  Variable<B> passing(Shape shape) {
    Variable<B> v = constant(shape);
    if (recording_) v.gradient = passing_.allocate(shape.size());
    v.passing = recording_;
    return v;
  }

  /// Room for a gradient that is needed longer than its variable's own.
  Scalar* lasting_room(std::size_t n) { return recording_ ? gradients_.allocate(n) : nullptr; }

  /// A new uninitialised array in a lane.
  Variable<B> variable(Shape shape, const Lane<B>& lane) {
    const bool used_up = lane.kind == Lane<B>::Kind::used_up;
    if (!recording_ || lane.weight == nullptr) return used_up ? overwritten(shape) : variable(shape);
    const auto [value, gradient] = lanes_.allocate(lane, shape.size());
    return {this, value, gradient, shape, false, used_up, lane.passed_on(), lane.passing()};
  }

  /// A new uninitialised array that no gradient flows into.
  Variable<B> constant(Shape shape) { return {this, values_.allocate(shape.size()), nullptr, shape}; }

  /// A new array of zeros that no gradient flows into.
  Variable<B> zeros(Shape shape) {
    const Variable<B> v = constant(shape);
    B::fill(v.value, v.size(), Scalar(0));
    return v;
  }

  /// A new array whose gradient takes the place of its value: for a result that one operation uses up.
  Variable<B> overwritten(Shape shape) {
    Variable<B> v = constant(shape);
    if (recording_) v.gradient = v.value;
    v.used_up = true;
    return v;
  }

  /// Room for numbers that are needed no longer than until somebody asks for such room again.
  Scalar* scratch(std::size_t n) {
    if (scratch_.size() < n) scratch_ = Numbers(n);
    return scratch_.data();
  }

  /// Where a fused adjoint may write v's gradient: room that nobody reads if v is a constant.
  Scalar* gradient_room(const Variable<B>& v) {
    return v.gradient || !recording_ ? static_cast<Scalar*>(v.gradient) : passing_.allocate(v.size());
  }

  /// An input: a copy of the host's numbers, with a gradient.
  Variable<B> leaf(Shape shape, std::span<const Scalar> host) {
    Variable<B> v = filled(variable(shape), host);
    v.leaf = true;
    return v;
  }
  /// An input without a gradient.
  Variable<B> constant(Shape shape, std::span<const Scalar> host) { return filled(constant(shape), host); }
  template <std::size_t Rank>
  Variable<B> leaf(const Array<Scalar, Rank>& host) {
    return leaf(shape_of(host), {host.data(), host.size()});
  }
  template <std::size_t Rank>
  Variable<B> constant(const Array<Scalar, Rank>& host) {
    return constant(shape_of(host), {host.data(), host.size()});
  }

  /// A parameter of the bound model.
  Variable<B> operator[](const Parameter& p) {
    if (!weights_.bound()) fail("Tape", "a tape bound to a model's weights", "an unbound one");
    return {this,    weights_.value(p), recording_ ? weights_.gradient(p) : nullptr,
            p.shape, /*leaf=*/true,     false};
  }

  /// An array that somebody else owns and nobody writes, as a constant.
  Variable<B> borrow(const Scalar* data, Shape shape) {
    return {this, const_cast<Scalar*>(data), nullptr, shape};
  }

  /// Keeps how a variable's rows came about for as long as its arrays.
  const detail::SharedRows<B>* keep(const detail::SharedRows<B>& shared) {
    return &shared_rows_.emplace_back(shared);
  }

  /// Uninitialised room for row numbers or ids that lives as long as the tape's arrays.
  Index* index_room(std::size_t count) { return indices_.allocate(count); }

  /// A device copy of row numbers or ids that lives as long as the tape's arrays.
  const Index* keep(std::span<const Index> host) {
    Index* place = index_room(host.size());
    B::upload(host.data(), host.size(), place);
    return place;
  }

  /// The same, but nothing may read the copy before `send`, which makes those of all that was staged: one
  /// transfer to a device for many arrays.
  const Index* stage(std::span<const Index> host) {
    Index* place = indices_.allocate_next(host.size());
    if (!staged_.empty() && place != staged_begin_ + staged_.size()) send();
    if (staged_.empty()) staged_begin_ = place;
    staged_.insert(staged_.end(), host.begin(), host.end());
    return place;
  }
  void send() {
    B::upload(staged_.data(), staged_.size(), staged_begin_);
    staged_.clear();
  }

  /// Leaves an adjoint; dropped at once where the tape does not record.
  template <class Adjoint>
  void record(Adjoint adjoint) {
    static_assert(std::is_trivially_destructible_v<Adjoint>,
                  "bahdanau: an adjoint may only capture handles: keep arrays on the tape");
    static_assert(alignof(Adjoint) <= alignof(std::max_align_t));
    if (!recording_) return;
    constexpr std::size_t blocks = (sizeof(Adjoint) + sizeof(Block) - 1) / sizeof(Block);
    void* place = closures_.allocate(blocks);
    const auto* kept = ::new (place) Adjoint(std::move(adjoint));
    steps_.push_back({[](const void* closure) { (*static_cast<const Adjoint*>(closure))(); }, kept});
  }

  /// Puts off `dW += dyᵀ x` and `db += Σ dy` until the whole tape was played, so that the steps of a
  /// recurrent layer become one product.
  void defer(const WeightGradient<B>& contribution) {
    if (contribution.weight != nullptr || contribution.bias != nullptr) require_lasting(contribution.dy);
    deferred_.add(contribution);
  }
  /// The same for `dW[index[i]] += dy[i]`.
  void defer(const RowGradient<B>& contribution) {
    require_lasting(contribution.dy);
    deferred_.add(contribution);
  }

  /// Plays the tape from `result` (one element) backwards: afterwards every gradient is d result / d
  /// variable.
  void backward(const Variable<B>& result) {
    if (result.size() != 1) fail("backward", "a result of one element", result.shape.text(), "sum it first");
    if (!result.gradient) fail("backward", "a result that depends on a recorded variable", "a constant");
    clear_gradients();
    const Scalar one(1);
    B::upload(&one, 1, static_cast<Scalar*>(result.gradient));
    play();
  }

  /// Sets all gradients on the tape to 0; `backward` does so itself. Parameters' gradients are the caller's.
  void clear_gradients() {
    const auto clear = [](Scalar* data, std::size_t n) { B::fill(data, n, Scalar(0)); };
    gradients_.for_used(clear);
    passing_.for_used(clear);
    lanes_.for_gradients(clear);
    weights_.clear_own_gradients();
  }

  /// Plays all adjoints in reverse order, for a caller that has put its own gradients in place.
  void play() {
    play_adjoints();
    deferred_.flush();
  }

  /// The same, but leaves what was put off to the caller, who may add up that of several tapes at once. What
  /// adjoints have added themselves is in `own_gradients`, where the tape was bound with them.
  detail::DeferredWeightGradients<B>& play_adjoints() {
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) step->play(step->closure);
    return deferred_;
  }

  /// Forgets everything recorded; all variables of this tape become invalid. Returns whether arrays have
  /// moved into larger pieces of memory, and left smaller ones behind.
  bool reset() {
    steps_.clear();
    deferred_.clear();
    weights_.reset();
    staged_.clear();
    shared_rows_.clear();
    bool moved = values_.reset();
    moved = gradients_.reset() || moved;
    moved = passing_.reset() || moved;
    moved = lanes_.reset() || moved;
    moved = indices_.reset() || moved;
    moved = closures_.reset() || moved;
    return moved;
  }

  /// Whether the arrays had to be put into several pieces of memory, because there were more of them than
  /// ever before. Products that are put off are joined where their arrays lie together, so only a pass in one
  /// piece gives the same bits as all others like it: record it again.
  bool fragmented() const {
    return values_.fragmented() || gradients_.fragmented() || passing_.fragmented() || lanes_.fragmented();
  }

  std::size_t length() const { return steps_.size(); }

 private:
  struct Step {
    void (*play)(const void*);
    const void* closure;
  };
  struct alignas(std::max_align_t) Block {
    std::byte bytes[sizeof(std::max_align_t)];
  };

  void require_lasting(const Scalar* gradient) const {
    if (room_ != nullptr && room_->holds(gradient))
      fail("Tape::defer", "a gradient that lasts", "that of a passing() variable",
           "copy it to lasting_room() in the adjoint");
  }

  template <class A>
  static Shape shape_of(const A& host) {
    const auto& s = host.shape();
    if constexpr (std::tuple_size_v<std::decay_t<decltype(s)>> == 1)
      return {s[0]};
    else if constexpr (std::tuple_size_v<std::decay_t<decltype(s)>> == 2)
      return {s[0], s[1]};
    else
      return {s[0], s[1], s[2]};
  }
  Variable<B> filled(Variable<B> v, std::span<const Scalar> host) {
    detail::require_equal("Tape", "numbers for " + v.shape.text() + ":", v.size(), host.size());
    B::upload(host.data(), host.size(), v.value);
    return v;
  }

  using Numbers = typename B::template Storage<Scalar>;

  bool recording_;
  detail::LentRoom<Scalar>* room_ = nullptr;
  detail::BoundWeights<B> weights_;
  detail::Arena<Numbers> values_, gradients_, passing_;
  Numbers scratch_;
  detail::LaneRooms<B> lanes_;
  detail::Arena<typename B::template Storage<Index>> indices_;
  std::vector<Index> staged_;
  std::deque<detail::SharedRows<B>> shared_rows_;  // variables point into it
  Index* staged_begin_ = nullptr;
  detail::Arena<std::vector<Block>> closures_;
  std::vector<Step> steps_;
  detail::DeferredWeightGradients<B> deferred_;
};

/// A host copy of a variable's value, with the rank that the caller names.
template <std::size_t Rank, Backend B>
Array<typename B::Scalar, Rank> value(const Variable<B>& v) {
  return detail::host_copy<Rank, B>(v.value, v.shape);
}

/// A host copy of a variable's gradient after `backward`.
template <std::size_t Rank, Backend B>
Array<typename B::Scalar, Rank> gradient(const Variable<B>& v) {
  if (!v.gradient) fail("gradient", "a variable with a gradient", "a constant");
  return detail::host_copy<Rank, B>(v.gradient, v.shape);
}

}  // namespace bahdanau
