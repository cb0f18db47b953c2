// The tape: operations write their results on it and leave an adjoint; played backwards it gives gradients.
// It plays in a loop, not by recursion, so its length is bounded by memory alone.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include <bahdanau/autograd/adjoints.hpp>
#include <bahdanau/autograd/bound_weights.hpp>
#include <bahdanau/autograd/checks.hpp>
#include <bahdanau/autograd/gradients.hpp>
#include <bahdanau/autograd/host_copy.hpp>
#include <bahdanau/autograd/map_elements.hpp>
#include <bahdanau/autograd/operation.hpp>
#include <bahdanau/autograd/parameter.hpp>
#include <bahdanau/autograd/tape_memory.hpp>
#include <bahdanau/autograd/variable.hpp>
#include <bahdanau/autograd/weight_gradient.hpp>
#include <bahdanau/autograd/weight_uses.hpp>
#include <bahdanau/backend/backend.hpp>
#include <bahdanau/core/array.hpp>
#include <bahdanau/core/error.hpp>

namespace bahdanau {

/// Records operations and plays their adjoints. One tape belongs to one thread.
///
/// An operation allocates its result with `variable`, computes it at once, and hands `record` a closure that
/// adds to its arguments' gradients what its result's gradient says (docs/operations.md). Arrays and closures
/// live in arenas: after `reset` the same pass allocates nothing. Inside of a `Loop`, the arrays of all steps
/// lie together.
template <Backend B>
class Tape {
 public:
  using Scalar = typename B::Scalar;
  /// `checked` records, and finds operations that break the rules (docs/operations.md); it is slow.
  enum class Mode : std::uint8_t { record, infer, checked };

  /// A tape without parameters, for expressions over `leaf` variables.
  explicit Tape(Mode mode = Mode::record)
      : recording_(mode != Mode::infer),
        checks_(mode == Mode::checked ? std::make_unique<detail::TapeChecks<B>>() : nullptr) {}

  /// A tape for inference with a model's weights: nothing is recorded.
  explicit Tape(const WeightBinding<B>& binding) : recording_(false) { weights_.bind(binding); }
  explicit Tape(const Scalar* weights) : Tape(WeightBinding<B>{.weights = weights}) {}

  Tape(const Tape&) = delete;  // variables point to their tape
  Tape& operator=(const Tape&) = delete;

  /// Lets `tape[p]` read a model's weights and, if `gradients` is not null, add to their gradients.
  void bind(const Scalar* weights, Scalar* gradients) { bind({.weights = weights, .gradients = gradients}); }
  void bind(const WeightBinding<B>& binding) { weights_.bind(binding); }
  /// Lets `tape[p]` be a part of a variable of this tape, whose gradient it adds to: for gradient checks.
  void bind(const Variable<B>& block) { weights_.bind({.weights = block.value}, block.array); }
  /// What the operations that use weights need to know of them.
  detail::BoundWeights<B>& weights() { return weights_; }
  const detail::BoundWeights<B>& weights() const { return weights_; }

  bool recording() const { return recording_; }

  /// A new uninitialised array.
  Variable<B> variable(Shape shape, Result result = Result::kept) {
    Variable<B> v = memory_.allocate(*this, shape, recording_);
    v.given = result == Result::given;
    return v;
  }

  /// A new uninitialised array that no gradient flows into.
  Variable<B> constant(Shape shape) { return memory_.allocate(*this, shape, false); }

  /// A new array of zeros that no gradient flows into.
  Variable<B> zeros(Shape shape) {
    const Variable<B> v = constant(shape);
    B::fill(v.value, v.size(), Scalar(0));
    return v;
  }

  /// A new uninitialised array for the state that follows `before`, of its shape. In a loop that carries the
  /// state it lies behind the state before: the first that a step asks for, but for those of an `InnerStep`.
  Variable<B> following(const Variable<B>& before) {
    auto* state = memory_.carried_on(before);
    if (state == nullptr) return variable(before.shape);
    if (!memory_.loops.running()->inner)
      return memory_.state_at(*this, *state, memory_.loops.step(), before.rows());
    const Variable<B> between = variable(before.shape);
    state->between = between.value;
    return between;
  }

  /// x for an operation that writes over its value, or stores its gradient in its place: itself where it was
  /// given, else a copy.
  Variable<B> take(const Variable<B>& x) {
    if (!x.has_gradient()) {
      if (!x.given) return copy_to_take(x);
      if (checks_) checks_->takes(x, operation_);
      return x;
    }
    auto& array = memory_.arrays[x.array];
    if (!x.given || !array.can_take(x.value, x.size())) return copy_to_take(x);
    array.take(x.value, x.size());
    array.taker = operation_;
    gave_away_ = true;
    return x;
  }

  /// Memory for numbers that are needed no longer than until somebody asks for scratch again.
  Scalar* scratch(std::size_t n) {
    if (scratch_.size() < n) scratch_ = Numbers(n);
    return scratch_.data();
  }

  /// An input: a copy of the host's numbers, with a gradient.
  Variable<B> leaf(Shape shape, std::span<const Scalar> host) {
    Variable<B> v = filled(variable(shape), host);
    if (v.has_gradient()) memory_.arrays[v.array].leaf = true;
    return v;
  }
  /// An input without a gradient.
  Variable<B> constant(Shape shape, std::span<const Scalar> host) { return filled(constant(shape), host); }
  template <std::size_t Rank>
  Variable<B> leaf(const Array<Scalar, Rank>& host) {
    return leaf(detail::shape_of(host), {host.data(), host.size()});
  }
  template <std::size_t Rank>
  Variable<B> constant(const Array<Scalar, Rank>& host) {
    return constant(detail::shape_of(host), {host.data(), host.size()});
  }

  /// A parameter of the bound model.
  Variable<B> operator[](const Parameter& p) {
    if (!weights_.bound()) fail("Tape", "a tape bound to a model's weights", "an unbound one");
    Variable<B> v{this, weights_.value(p), p.shape};
    if (recording_) v.array = weights_.array(p, memory_.arrays);
    return v;
  }

  /// A parameter of the bound model for products alone: what stands there may be packed. `linear` and its
  /// kin ask for it when they are given a parameter.
  Variable<B> weight(const Parameter& p) {
    if (recording_) return (*this)[p];
    if (!weights_.bound()) fail("Tape", "a tape bound to a model's weights", "an unbound one");
    return {this, weights_.weight(p), p.shape};
  }

  /// An array that somebody else owns and nobody writes, as a constant.
  Variable<B> borrow(const Scalar* data, Shape shape) { return {this, const_cast<Scalar*>(data), shape}; }

  /// Whether v is an input or a parameter, or rows of one.
  bool is_leaf(const Variable<B>& v) const { return v.has_gradient() && memory_.arrays[v.array].leaf; }

  /// Keeps how a variable's rows came about for as long as its arrays.
  const detail::SharedRows<B>* keep(const detail::SharedRows<B>& shared) {
    return &memory_.arena().shared_rows.emplace_back(shared);
  }

  /// Uninitialised row numbers or ids that live as long as the tape's arrays.
  Index* allocate_indices(std::size_t count) { return memory_.arena().lists.allocate(count); }
  /// A device copy of row numbers or ids that lives as long as the tape's arrays.
  const Index* keep(std::span<const Index> host) { return memory_.arena().lists.keep(host); }
  /// The same, but nothing may read the copy before `send`, which makes those of all that was staged: one
  /// transfer to a device for many arrays.
  const Index* stage(std::span<const Index> host) { return memory_.arena().lists.stage(host); }
  void send() { memory_.arena().lists.send(); }

  /// Leaves an adjoint, `void(Gradients<B>&)`; dropped at once where the tape does not record or no argument
  /// has a gradient.
  template <class Adjoint>
  void record(const Operation<B>& operation, Adjoint adjoint) {
    if (!recording_) return;
    if (checks_) require_not_given(operation);  // also of what leaves no adjoint
    const bool dependent = std::any_of(operation.arguments.begin(), operation.arguments.end(),
                                       [&](const auto& v) { return depends_on_leaf(*v); });
    // A result may be made in parts, by several operations: one that depends on a leaf is enough.
    for (const auto& v : operation.results)
      if ((*v).has_gradient()) memory_.arrays.note_result((*v).array, dependent);
    if (!dependent) {
      ++operation_;
      return;
    }
    note(operation);
    ++operation_;
    adjoints_.add(std::move(adjoint));
  }

  /// Says that the gradient of a leaf W, of a leaf b or of both comes from a product: `dW += dyᵀ x` and `db
  /// += Σ dy`. It is computed after all adjoints, over all steps of a loop at once.
  void add_weight(const WeightUse<B>& use) {
    if (!recording_ || (!use.w.has_gradient() && !use.b.has_gradient())) return;
    if (!use.y.has_gradient()) fail("Tape::add_weight", "a result with a gradient", "a constant");
    if (checks_ && use.w.has_gradient()) checks_->fills(use.w.array);
    if (checks_ && use.b.has_gradient()) checks_->fills(use.b.array);
    memory_.arrays.note_lasting(use.y.array);
    if (use.x.has_gradient()) need(use.x, "a weight's gradient");
    uses_.add(use, memory_.arrays[use.y.array].slot, memory_.loops.running());
  }
  /// The same for `dW[index[i]] += dy[i]`: W [table, cols].
  void add_rows(const Variable<B>& w, const Variable<B>& y, const Index* index) {
    if (!recording_ || !w.has_gradient()) return;
    if (checks_) {
      checks_->fills(w.array);
      checks_->note_result(y.array);
    }
    memory_.arrays.note_lasting(y.array);
    uses_.add({w.array, y.array, w.value, y.value, index, y.rows(), y.cols(), w.rows()});
  }

  /// Plays the tape from `result` (one element) backwards: afterwards every gradient is d result / d
  /// variable.
  void backward(const Variable<B>& result) {
    if (result.size() != 1) fail("backward", "a result of one element", result.shape.text(), "sum it first");
    if (!depends_on_leaf(result))
      fail("backward", "a result that depends on a recorded variable", "a constant");
    clear_gradients();
    const Scalar one(1);
    B::upload(&one, 1, seed(result));
    play();
  }

  /// Forgets all gradients on the tape; `backward` does so itself. Parameters' gradients are the caller's.
  void clear_gradients() { memory_.arrays.clear_gradients(); }

  /// Where the gradient of a result goes for a caller that has it from elsewhere, and plays the tape then:
  /// all of it must be stored.
  Scalar* seed(const Variable<B>& result) {
    if (!result.has_gradient()) fail("Tape::seed", "a variable with a gradient", "a constant");
    if (checks_) checks_->fills(result.array);
    const auto& array = memory_.arrays[result.array];
    if (array.slot != detail::no_slot) memory_.arrays.slot(array.slot).kept = true;  // read from outside
    return memory_.arrays.is_whole(result) ? memory_.arrays.stored(result) : memory_.arrays.gradient(result);
  }

  /// The gradient of a variable on the device, for whoever reads it after `backward`.
  const Scalar* gradient_of(const Variable<B>& v) {
    const auto& array = memory_.arrays[v.array];
    if (array.slot != detail::no_slot && !memory_.arrays.slot(array.slot).kept)
      fail("gradient", "a variable whose gradient is kept", "one of a step of a loop",
           "read it outside of the loop, or ask for that of something outside");
    return memory_.arrays.gradient(v);
  }

  /// Plays all adjoints in reverse order, then adds up what weights get.
  void play() {
    play_adjoints();
    sums_.add();
  }

  /// Plays the adjoints alone, and leaves what weights get to the caller, who may add up that of several
  /// tapes at once.
  void play_adjoints() {
    if (std::exchange(played_, true) && gave_away_)
      fail("backward", "a tape that was not played before", "one whose adjoints have written over values",
           "record it again, or make results with Result::kept");
    for (std::size_t i = adjoints_.size(); i-- > 0;) {
      if (checks_) checks_->before(i);
      adjoints_.play(i, gradients_);
      gradients_.forget_constants();
      if (checks_) checks_->after(i);
    }
    if (checks_) checks_->end(memory_.arrays);
    uses_.find(memory_.arrays, weights_, memory_.loops, memory_.lasting.lists, sums_);
    weights_.find_added(memory_.arrays, sums_.added);
  }
  /// What was left; valid until the next pass.
  const detail::WeightSums<B>& sums() const { return sums_; }

  /// Memory for gradients that are not needed any more once the adjoints were played; see Arrays::use.
  void use(const detail::Share<Scalar>& share) { memory_.arrays.use(share); }

  /// Forgets everything recorded; all variables of this tape become invalid. Returns whether arrays have
  /// moved into larger pieces of memory, and left smaller ones behind.
  bool reset() {
    uses_.clear();
    weights_.reset();
    played_ = gave_away_ = false;
    operation_ = 0;
    if (checks_) checks_->clear();
    const bool moved = memory_.reset();
    return adjoints_.reset() || moved;
  }

  std::size_t length() const { return adjoints_.size(); }
  /// What its values take, used or not; not gradients.
  std::size_t bytes() const { return memory_.bytes() + scratch_.size() * sizeof(Scalar); }

 private:
  template <Backend>
  friend class Loop;
  template <Backend>
  friend class InnerStep;
  template <Backend>
  friend class OpenLoop;

  // --- arrays

  Variable<B> copy_to_take(const Variable<B>& x) {
    const Variable<B> copy = variable(x.shape, Result::given);
    B::copy(x.value, x.size(), copy.value);
    const std::size_t taker = operation_;
    record({"take", {x}, {copy}},
           [=](Gradients<B>& d) { detail::add_elements<B>(x.size(), d.of(copy), d.to(x)); });
    operation_ = taker;  // what else it has taken is still its own
    return take(copy);
  }

  // --- what operations say

  bool depends_on_leaf(const Variable<B>& v) const {
    return v.has_gradient() && !memory_.arrays[v.array].constant;
  }

  void note(const Operation<B>& operation) {
    for (const auto& named : operation.arguments) {
      const Variable<B>& v = *named;
      if (!v.has_gradient()) continue;
      if (!memory_.arrays.was_taken(v))
        memory_.arrays.note_reader(v.array, memory_.loops.number(), memory_.loops.step());
      else if (given_to_another(v))
        fail_as_given(operation.name, "an argument that is its to read");
    }
    for (const auto& named : operation.values)
      if ((*named).has_gradient()) need(*named, operation.name);
    if (checks_) checks_->note(operation, adjoints_.size(), memory_.arrays);
  }

  /// Throws where it reads what another operation has taken over, be it a constant.
  void require_not_given(const Operation<B>& operation) const {
    const auto given = [&](const Variable<B>& v) {
      return v.has_gradient() ? given_to_another(v) : checks_->was_taken(v, operation_);
    };
    for (const auto& v : operation.arguments)
      if (given(*v)) fail_as_given(operation.name, "an argument that is its to read");
    for (const auto& v : operation.values)
      if (given(*v)) fail_as_given(operation.name, "a value that it may read later");
  }
  [[noreturn]] static void fail_as_given(std::string_view who, std::string_view expected) {
    fail(who, expected, "one that was given to another operation", "make it with Result::kept");
  }

  /// An adjoint reads the value of v.
  void need(const Variable<B>& v, std::string_view who) {
    memory_.arrays[v.array].needed = true;
    if (given_to_another(v)) fail_as_given(who, "a value that it may read later");
  }

  /// Whether another operation than the one that is being recorded has taken v over.
  bool given_to_another(const Variable<B>& v) const {
    return memory_.arrays.was_taken(v) && memory_.arrays[v.array].taker != operation_;
  }

  Variable<B> filled(Variable<B> v, std::span<const Scalar> host) {
    if (host.size() != v.size())  // asked first: a message allocates
      detail::require_equal("Tape", "numbers for " + v.shape.text() + ":", v.size(), host.size());
    B::upload(host.data(), host.size(), v.value);
    return v;
  }

  using Numbers = typename B::template Storage<Scalar>;

  bool recording_;
  std::unique_ptr<detail::TapeChecks<B>> checks_;
  detail::BoundWeights<B> weights_;
  detail::TapeMemory<B> memory_{recording_};
  Gradients<B> gradients_{memory_.arrays, checks_.get()};
  detail::Adjoints<B> adjoints_;
  detail::WeightUses<B> uses_;
  detail::WeightSums<B> sums_;
  Numbers scratch_;
  bool gave_away_ = false;  // whether arrays were taken over
  bool played_ = false;
  std::size_t operation_ = 0;  // number of the one that is being recorded
};

}  // namespace bahdanau
