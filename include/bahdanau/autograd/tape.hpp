// The tape: operations write their results on it and leave an adjoint; played backwards it gives gradients.
// It plays in a loop, not by recursion, so its length is bounded by memory alone.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <bahdanau/autograd/arena.hpp>
#include <bahdanau/autograd/arrays.hpp>
#include <bahdanau/autograd/bound_weights.hpp>
#include <bahdanau/autograd/checks.hpp>
#include <bahdanau/autograd/gradients.hpp>
#include <bahdanau/autograd/host_copy.hpp>
#include <bahdanau/autograd/loop_record.hpp>
#include <bahdanau/autograd/map_elements.hpp>
#include <bahdanau/autograd/parameter.hpp>
#include <bahdanau/autograd/variable.hpp>
#include <bahdanau/autograd/weight_gradient.hpp>
#include <bahdanau/autograd/weight_uses.hpp>
#include <bahdanau/backend/backend.hpp>
#include <bahdanau/core/array.hpp>
#include <bahdanau/core/error.hpp>

namespace bahdanau {

/// Whether a result is its maker's to keep, or given to its one reader, who may write over it and whose
/// adjoint stores the gradient in its place. The maker's own adjoint must not need its value.
enum class Result : bool { kept, given };

/// What an operation tells the tape of itself.
template <Backend B>
struct Operation {
  /// A variable that is there anyway.
  struct Named {
    Named(const Variable<B>& v) : variable(&v) {}
    const Variable<B>& operator*() const { return *variable; }
    const Variable<B>* variable;
  };
  using List = std::initializer_list<Named>;

  std::string_view name;  // as it stands in messages
  List arguments{};       // to whose gradients the adjoint adds
  List results{};         // whose gradients it reads
  List values{};          // whose values it reads
};

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
  explicit Tape(Mode mode = Mode::record) : recording_(mode != Mode::infer) {
    if (mode == Mode::checked) checks_ = std::make_unique<detail::TapeChecks<B>>();
  }

  /// A tape for inference with a model's weights: nothing is recorded.
  explicit Tape(const WeightBinding<B>& binding) : recording_(false) { weights_.bind(binding); }
  explicit Tape(const Scalar* weights) : Tape(WeightBinding<B>{.weights = weights}) {}

  Tape(const Tape&) = delete;  // variables point to their tape
  Tape& operator=(const Tape&) = delete;

  /// Lets `tape[p]` read a model's weights and, if `gradients` is not null, add to their gradients.
  void bind(const Scalar* weights, Scalar* gradients) { bind({.weights = weights, .gradients = gradients}); }
  void bind(const WeightBinding<B>& binding) {
    weights_.bind(binding);
    block_ = detail::no_array;
  }
  /// Lets `tape[p]` be a part of a variable of this tape, whose gradient it adds to: for gradient checks.
  void bind(const Variable<B>& block) {
    weights_.bind({.weights = block.value});
    block_ = block.array;
  }
  /// What the operations that use weights need to know of them.
  detail::BoundWeights<B>& weights() { return weights_; }
  const detail::BoundWeights<B>& weights() const { return weights_; }

  bool recording() const { return recording_; }

  /// A new uninitialised array.
  Variable<B> variable(Shape shape, Result result = Result::kept) {
    Variable<B> v = allocate(shape, recording_);
    v.given = result == Result::given;
    return v;
  }

  /// A new uninitialised array that no gradient flows into.
  Variable<B> constant(Shape shape) { return allocate(shape, false); }

  /// A new array of zeros that no gradient flows into.
  Variable<B> zeros(Shape shape) {
    const Variable<B> v = constant(shape);
    B::fill(v.value, v.size(), Scalar(0));
    return v;
  }

  /// A new uninitialised array for the state that follows `before`, of its shape. In a loop that carries the
  /// state, it lies behind the state before.
  Variable<B> following(const Variable<B>& before) {
    if (loop_ != nullptr && loop_->step >= 0)
      if (const auto* state = loop_->find(before.value, loop_->step - 1))
        return state_at(*state, loop_->step, before.rows());
    return variable(before.shape);
  }

  /// x for an operation that writes over its value, or stores its gradient in its place: itself where it was
  /// given, else a copy.
  Variable<B> take(const Variable<B>& x) {
    if (!x.given) return copy_to_take(x);
    if (x.has_gradient()) {
      auto& array = arrays_[x.array];
      if (array.readers > 0 || array.needed || x.value < array.taken) return copy_to_take(x);
      if (array.taken == nullptr && array.slot != detail::no_slot) ++arrays_.slot(array.slot).taken;
      array.taken = x.value + x.size();
      array.taker = steps_.size();
    }
    return x;
  }

  /// Room for numbers that are needed no longer than until somebody asks for such room again.
  Scalar* scratch(std::size_t n) {
    if (scratch_.size() < n) scratch_ = Numbers(n);
    return scratch_.data();
  }

  /// An input: a copy of the host's numbers, with a gradient.
  Variable<B> leaf(Shape shape, std::span<const Scalar> host) {
    Variable<B> v = filled(variable(shape), host);
    if (v.has_gradient()) arrays_[v.array].leaf = true;
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
    Variable<B> v{this, weights_.value(p), p.shape};
    v.array = block_;
    if (recording_ && weights_.gradients() != nullptr) v.array = parameter_array(p, v.value);
    return v;
  }

  /// An array that somebody else owns and nobody writes, as a constant.
  Variable<B> borrow(const Scalar* data, Shape shape) { return {this, const_cast<Scalar*>(data), shape}; }

  /// Whether v is an input or a parameter, or rows of one.
  bool is_leaf(const Variable<B>& v) const { return v.has_gradient() && arrays_[v.array].leaf; }

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

  /// Leaves an adjoint, `void(Gradients<B>&)`; dropped at once where the tape does not record or no argument
  /// has a gradient.
  template <class Adjoint>
  void record(const Operation<B>& operation, Adjoint adjoint) {
    static_assert(std::is_trivially_destructible_v<Adjoint>,
                  "bahdanau: an adjoint may only capture handles: keep arrays on the tape");
    static_assert(alignof(Adjoint) <= alignof(std::max_align_t));
    if (!recording_) return;
    if (std::none_of(operation.arguments.begin(), operation.arguments.end(),
                     [](const auto& v) { return (*v).has_gradient(); })) {
      if (checks_) checks_->note_constants(operation);
      return;
    }
    note(operation);
    constexpr std::size_t blocks = (sizeof(Adjoint) + sizeof(Block) - 1) / sizeof(Block);
    void* place = closures_.allocate(blocks);
    const auto* kept = ::new (place) Adjoint(std::move(adjoint));
    steps_.push_back({[](const void* closure, Gradients<B>& gradients) {
                        (*static_cast<const Adjoint*>(closure))(gradients);
                      },
                      kept});
  }

  /// Says that the gradient of a leaf W, of a leaf b or of both comes from a product: `dW += dyᵀ x` and `db
  /// += Σ dy`. It is computed after all adjoints, over all steps of a loop at once.
  void add_weight(const WeightUse<B>& use) {
    if (!recording_ || (!use.w.has_gradient() && !use.b.has_gradient())) return;
    if (checks_)
      for (const ArrayId id : {use.w.array, use.b.array})
        if (id != detail::no_array) checks_->fills(id);
    arrays_.note_lasting(use.y.array);
    if (use.x.has_gradient()) need(use.x, "a weight's gradient");
    products_.add(use, arrays_[use.y.array].slot, loop_number_, loop_);
  }
  /// The same for `dW[index[i]] += dy[i]`: W [table, cols].
  void add_rows(const Variable<B>& w, const Variable<B>& y, const Index* index) {
    if (!recording_ || !w.has_gradient()) return;
    if (checks_) {
      checks_->fills(w.array);
      checks_->note_result(y.array);
    }
    arrays_.note_lasting(y.array);
    products_.add({w.array, y.array, w.value, y.value, index, y.rows(), y.cols(), w.rows()});
  }

  /// Plays the tape from `result` (one element) backwards: afterwards every gradient is d result / d
  /// variable.
  void backward(const Variable<B>& result) {
    if (result.size() != 1) fail("backward", "a result of one element", result.shape.text(), "sum it first");
    if (!result.has_gradient())
      fail("backward", "a result that depends on a recorded variable", "a constant");
    clear_gradients();
    const Scalar one(1);
    B::upload(&one, 1, seed(result));
    play();
  }

  /// Forgets all gradients on the tape; `backward` does so itself. Parameters' gradients are the caller's.
  void clear_gradients() { arrays_.clear_gradients(); }

  /// Where the gradient of a result goes for a caller that has it from elsewhere, and plays the tape then:
  /// all of it must be stored.
  Scalar* seed(const Variable<B>& result) {
    if (checks_) checks_->fills(result.array);
    return stored(result);
  }

  /// The gradient of a variable on the device, for whoever reads it after `backward`.
  const Scalar* gradient_of(const Variable<B>& v) {
    const auto& array = arrays_[v.array];
    if (array.slot != detail::no_slot && !arrays_.slot(array.slot).kept)
      fail("gradient", "a variable whose gradient is kept", "one of a step of a loop",
           "read it outside of the loop, or ask for that of something outside");
    return arrays_.gradient(v.array) + offset(v);
  }

  /// Plays all adjoints in reverse order, then adds up what weights get.
  void play() {
    play_adjoints();
    for (const WeightGradient<B>& product : weight_gradients()) {
      product.add_to_weight(0, product.outputs);
      product.add_to_bias();
    }
    for (const RowGradient<B>& rows : row_gradients()) rows.add();
    for (const AddedGradient<B>& added : added_gradients()) added.add();
  }

  /// Plays the adjoints alone, and leaves what weights get to the caller, who may add up that of several
  /// tapes at once.
  void play_adjoints() {
    Gradients<B> gradients(*this);
    for (std::size_t i = steps_.size(); i-- > 0;) {
      if (checks_) checks_->before(i, arrays_);
      steps_[i].play(steps_[i].closure, gradients);
      if (checks_) checks_->after(i, arrays_);
    }
    if (checks_) checks_->end(arrays_);
    find_weight_gradients();
  }
  /// What was left, in the order of the forward pass; valid until the next pass.
  std::span<const WeightGradient<B>> weight_gradients() const { return weight_gradients_; }
  std::span<const RowGradient<B>> row_gradients() const { return row_gradients_; }
  std::span<const AddedGradient<B>> added_gradients() const { return added_gradients_; }

  /// Memory for gradients that are not needed any more once the adjoints were played; see Arrays::use.
  void use(const detail::Share<Scalar>& share) { arrays_.use(share); }

  /// Forgets everything recorded; all variables of this tape become invalid. Returns whether arrays have
  /// moved into larger pieces of memory, and left smaller ones behind.
  bool reset() {
    steps_.clear();
    products_.clear();
    weights_.reset();
    parameters_.clear();
    staged_.clear();
    shared_rows_.clear();
    loop_ = nullptr;
    loops_used_ = 0;
    if (checks_) checks_->clear();
    bool moved = values_.reset();
    moved = arrays_.reset() || moved;
    moved = indices_.reset() || moved;
    moved = closures_.reset() || moved;
    return moved;
  }

  std::size_t length() const { return steps_.size(); }

 private:
  template <Backend>
  friend class Gradients;
  template <Backend>
  friend class Loop;

  using ArrayId = detail::ArrayId;
  using Record = detail::LoopRecord<B>;
  struct Step {
    void (*play)(const void*, Gradients<B>&);
    const void* closure;
  };
  struct alignas(std::max_align_t) Block {
    std::byte bytes[sizeof(std::max_align_t)];
  };
  struct BoundParameter {
    std::size_t offset, size;
    ArrayId array;
  };

  // --- arrays

  Variable<B> allocate(const Shape& shape, bool with_gradient) {
    if (recording_ && loop_ != nullptr && loop_->step >= 0) return allocate_in_step(shape, with_gradient);
    Variable<B> v{this, values_.allocate(shape.size()), shape};
    if (with_gradient) v.array = arrays_.add({.value = v.value, .size = shape.size()});
    return v;
  }

  /// The k-th array of a step, behind that of the step before; in a place of its own where it is of another
  /// kind.
  Variable<B> allocate_in_step(const Shape& shape, bool with_gradient) {
    const std::size_t k = loop_->arrays++;
    const auto step = static_cast<std::size_t>(loop_->step);
    if (step == 0) loop_->made.push_back(reserve(shape));
    Variable<B> v{this, nullptr, shape};
    std::uint32_t slot = detail::no_slot;
    if (k < loop_->made.size() && loop_->made[k].slot != detail::no_slot) {
      const auto& made = loop_->made[k];
      const detail::StepStarts& starts = made.pairs ? loop_->pairs : loop_->rows;
      if (shape[0] == starts.count(step) && shape.size() == made.width * starts.count(step)) {
        slot = made.slot;
        v.value = arrays_.slot(slot).value + starts.start(step) * made.width;
      }
    }
    if (v.value == nullptr) v.value = values_.allocate(shape.size());
    if (with_gradient) {
      v.array = arrays_.add({.value = v.value, .size = shape.size(), .slot = slot, .step = loop_->step});
      if (slot != detail::no_slot) ++arrays_.slot(slot).arrays;
    }
    return v;
  }

  /// Room for an array of each step.
  typename Record::Made reserve(const Shape& shape) {
    typename Record::Made made = loop_->kind_of(shape);
    made.slot = detail::no_slot;
    if (made.width == 0) return made;
    const detail::StepStarts& starts = made.pairs ? loop_->pairs : loop_->rows;
    made.slot = arrays_.add(detail::Slot<Scalar>{.value = values_.allocate(made.width * starts.total()),
                                                 .total = made.width * starts.total(),
                                                 .largest = made.width * starts.largest(),
                                                 .loop = loop_number_});
    return made;
  }

  /// A state at a step, or that before the first one (-1).
  Variable<B> state_at(const typename Record::Carried& state, std::int32_t step, std::size_t rows) {
    Variable<B> v{this, loop_->place(state, step), {rows, state.width}};
    if (recording_)
      v.array = arrays_.add({.value = v.value, .size = v.size(), .slot = state.slot, .step = step});
    return v;
  }

  ArrayId parameter_array(const Parameter& p, Scalar* value) {
    for (const BoundParameter& known : parameters_)
      if (known.offset == p.offset && known.size == p.shape.size()) return known.array;
    const ArrayId array =
        arrays_.add({.value = value, .size = p.shape.size(), .leaf = true, .parameter = true});
    parameters_.push_back({p.offset, p.shape.size(), array});
    return array;
  }

  Variable<B> copy_to_take(const Variable<B>& x) {
    const Variable<B> copy = variable(x.shape, Result::given);
    B::copy(x.value, x.size(), copy.value);
    record({"take", {x}, {copy}},
           [=](Gradients<B>& d) { detail::add_elements<B>(x.size(), d.of(copy), d.to(x)); });
    return take(copy);
  }

  // --- what operations say

  void note(const Operation<B>& operation) {
    const std::int32_t step = loop_ != nullptr ? loop_->step : 0;
    for (const auto& named : operation.arguments) {
      const ArrayId id = (*named).array;
      if (id == detail::no_array) continue;
      if (arrays_[id].taken == nullptr)
        arrays_.note_reader(id, loop_number_, step);
      else if (arrays_[id].taker != steps_.size())
        fail(operation.name, "an argument that is its to read", "one that was given to another operation",
             "make it with Result::kept");
    }
    for (const auto& named : operation.values)
      if ((*named).has_gradient()) need(*named, operation.name);
    if (checks_) checks_->note(operation, steps_.size(), arrays_);
  }

  /// An adjoint reads the value of v.
  void need(const Variable<B>& v, std::string_view who) {
    auto& array = arrays_[v.array];
    array.needed = true;
    if (array.taken != nullptr && array.taker != steps_.size())
      fail(who, "a value that it may read later", "one that was given to another operation",
           "make it with Result::kept");
  }

  // --- gradients, for Gradients

  std::size_t offset(const Variable<B>& v) const {
    return static_cast<std::size_t>(v.value - arrays_[v.array].value);
  }

  const Scalar* read_gradient(const Variable<B>& y) {
    if (checks_) checks_->reads(y.array);
    return arrays_.gradient(y.array) + offset(y);
  }
  Scalar* add_gradient(const Variable<B>& x) {
    if (!x.has_gradient()) return nowhere(x.size());
    require_own(x);
    return arrays_.gradient(x.array) + offset(x);
  }
  typename Gradients<B>::Target gradient_target(const Variable<B>& x) {
    if (!x.has_gradient()) return {nowhere(x.size()), true};
    require_own(x);
    if (arrays_.filled(x.array) || x.size() != arrays_[x.array].size)
      return {arrays_.gradient(x.array) + offset(x), false};
    arrays_.set_filled(x.array);
    return {arrays_.place(x.array), true};
  }
  Scalar* store_gradient(const Variable<B>& x) {
    if (!x.has_gradient()) return x.value;  // a constant's memory was taken all the same
    if (arrays_[x.array].taken == nullptr)
      fail("Gradients::in_place", "an argument that was taken with Tape::take", "another one");
    if (checks_) checks_->fills(x.array);
    return stored(x);
  }
  Scalar* stored(const Variable<B>& x) {
    arrays_.set_filled(x.array);
    return arrays_.place(x.array) + offset(x);
  }
  void require_own(const Variable<B>& x) {
    if (arrays_[x.array].taken != nullptr)
      fail("Gradients::to", "an argument that keeps its value", "one that was taken", "use in_place()");
    if (checks_) checks_->fills(x.array);
  }
  /// Room for what nobody reads.
  Scalar* nowhere(std::size_t n) {
    if (nowhere_.size() < n) {
      nowhere_ = Numbers(n);
      B::fill(nowhere_.data(), n, Scalar(0));
    }
    return nowhere_.data();
  }

  /// Where the gradient of a leaf goes that a product adds to.
  Scalar* weight_place(ArrayId id, const Scalar* value) {
    if (id == detail::no_array) return nullptr;
    const auto& array = arrays_[id];
    if (array.parameter) return weights_.gradient_place(value);
    return arrays_.gradient(id) + (value - array.value);
  }

  void find_weight_gradients() {
    weight_gradients_.clear();
    row_gradients_.clear();
    added_gradients_.clear();
    for (const auto& p : products_.products()) require_one_piece(p.dy_slot);
    for (const auto& p : products_.products())
      weight_gradients_.push_back({weight_place(p.w, p.w_value), weight_place(p.b, p.b_value), p.x,
                                   p.listed ? state_rows(p.loop) : nullptr,
                                   arrays_.place(p.dy) + (p.y_value - arrays_[p.dy].value), p.rows, p.inputs,
                                   p.outputs, p.stride, p.dy_stride});
    for (const auto& r : products_.rows())
      row_gradients_.push_back({weight_place(r.w, r.w_value),
                                arrays_.gradient(r.dy) + (r.y_value - arrays_[r.dy].value), r.index, r.rows,
                                r.cols, r.table});
    for (const BoundParameter& p : parameters_)
      if (arrays_.filled(p.array))
        added_gradients_.push_back(
            {weights_.gradient_place(arrays_[p.array].value), arrays_.place(p.array), p.size});
  }

  /// Gradients that lie in the place of their values, and others, make no matrix.
  void require_one_piece(std::uint32_t slot) {
    if (slot == detail::no_slot) return;
    const auto& [taken, made] = std::pair(arrays_.slot(slot).taken, arrays_.slot(slot).arrays);
    if (taken != 0 && taken != made)
      fail("Loop", "a result that is taken over in all steps or in none",
           detail::text(taken) + " of " + detail::text(made), "let all steps do the same");
  }

  /// The rows of a loop's states before each step, on the device.
  const Index* state_rows(std::uint32_t loop) {
    Record& record = loops_[loop];
    if (record.state_rows == nullptr) {
      host_rows_.clear();
      detail::add_state_rows(record.rows, host_rows_);
      record.state_rows = keep(host_rows_);
    }
    return record.state_rows;
  }

  // --- loops, for Loop

  void begin_loop(std::span<const std::size_t> rows, std::span<const std::size_t> pairs,
                  const Index* state_rows) {
    if (loop_ != nullptr) fail("Loop", "a tape that is not in a loop", "a loop inside of another");
    if (loops_used_ == loops_.size()) loops_.emplace_back();
    loop_number_ = static_cast<std::uint32_t>(loops_used_++);
    loop_ = &loops_[loop_number_];
    loop_->assign(rows, pairs, state_rows);
  }
  void end_loop() {
    loop_ = nullptr;
    loop_number_ = detail::no_slot;
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
  std::unique_ptr<detail::TapeChecks<B>> checks_;
  detail::BoundWeights<B> weights_;
  detail::Arena<Numbers> values_;
  detail::Arrays<B> arrays_;
  std::vector<BoundParameter> parameters_;
  ArrayId block_ = detail::no_array;  // of which the parameters are parts
  Numbers scratch_, nowhere_;
  detail::Arena<typename B::template Storage<Index>> indices_;
  std::vector<Index> staged_, host_rows_;
  Index* staged_begin_ = nullptr;
  std::deque<detail::SharedRows<B>> shared_rows_;  // variables point into it
  std::deque<Record> loops_;                       // kept from pass to pass
  std::size_t loops_used_ = 0;
  Record* loop_ = nullptr;  // the one that is running
  std::uint32_t loop_number_ = detail::no_slot;
  detail::Arena<std::vector<Block>> closures_;
  std::vector<Step> steps_;
  detail::WeightUses<B> products_;
  std::vector<WeightGradient<B>> weight_gradients_;
  std::vector<RowGradient<B>> row_gradients_;
  std::vector<AddedGradient<B>> added_gradients_;
};

/// A host copy of a variable's value, with the rank that the caller names.
template <std::size_t Rank, Backend B>
Array<typename B::Scalar, Rank> value(const Variable<B>& v) {
  return detail::host_copy<Rank, B>(v.value, v.shape);
}

/// A host copy of a variable's gradient after `backward`. Inside of loops those of most arrays are gone then.
template <std::size_t Rank, Backend B>
Array<typename B::Scalar, Rank> gradient(const Variable<B>& v) {
  if (!v.has_gradient()) fail("gradient", "a variable with a gradient", "a constant");
  return detail::host_copy<Rank, B>(v.tape->gradient_of(v), v.shape);
}

}  // namespace bahdanau
