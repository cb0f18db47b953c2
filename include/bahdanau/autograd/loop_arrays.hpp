// What a tape knows of its loops: the rows and pairs of each step, and where what each step makes lies.
// The k-th array of a step lies behind the k-th array of the step before, and a state behind the state
// before.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include <bahdanau/autograd/arrays.hpp>
#include <bahdanau/backend/backend.hpp>
#include <bahdanau/core/shape.hpp>

namespace bahdanau::detail {

/// Where the rows, or the (row, key) pairs, of each step begin among those of all steps.
class StepStarts {
 public:
  void assign(std::span<const std::size_t> counts) {
    start_.assign(1, 0);
    largest_ = 0;
    for (const std::size_t n : counts) {
      start_.push_back(start_.back() + n);
      largest_ = std::max(largest_, n);
    }
  }
  std::size_t steps() const { return start_.size() - 1; }
  std::size_t start(std::size_t step) const { return start_[step]; }
  std::size_t count(std::size_t step) const { return start_[step + 1] - start_[step]; }
  std::size_t total() const { return start_.back(); }
  std::size_t largest() const { return largest_; }

 private:
  std::vector<std::size_t> start_{0};
  std::size_t largest_ = 0;
};

/// Appends for all rows of all steps which row the state before is, counted from that before the first step.
template <class Steps>
void add_state_rows(const Steps& rows, std::vector<Index>& list) {
  std::size_t before = 0;
  for (std::size_t t = 0; t < rows.steps(); ++t) {
    for (std::size_t r = 0; r < rows.count(t); ++r) list.push_back(static_cast<Index>(before + r));
    before = rows.count(0) + rows.start(t);
  }
}

/// One loop.
template <Backend B>
struct LoopRecord {
  using Scalar = typename B::Scalar;

  /// The k-th array of each step.
  struct Made {
    std::uint32_t slot = no_slot;
    bool pairs = false;     // one row per pair
    std::size_t width = 0;  // of a row
  };
  /// A state that goes from step to step.
  struct Carried {
    Scalar* value = nullptr;  // of step 0; that of step -1 lies before it
    std::size_t width = 0;
    std::uint32_t slot = no_slot;
    std::int32_t made = -1;           // the last step whose place was given to somebody
    const Scalar* between = nullptr;  // what an inner step has made of it, and another cell goes on from
  };

  StepStarts rows, pairs;
  std::uint32_t number = 0;
  std::int32_t step = -1;
  std::vector<Made> made;
  std::vector<Carried> carried;
  std::vector<Variable<B>> states;      // after each step, step by step
  std::vector<Variable<B>> parts;       // scratch
  std::vector<std::size_t> uses;        // of weights: the k-th of each step
  std::size_t arrays = 0, weights = 0;  // of the step so far
  bool inner = false;                   // whether what follows a state is not the step's last: see InnerStep
  const Index* state_rows = nullptr;    // see add_state_rows; on the device, once somebody needs it

  /// How far a step's rows are behind those of step 0; the state before step 0 has as many rows as it.
  std::ptrdiff_t row_start(std::int32_t at) const {
    return at < 0 ? -static_cast<std::ptrdiff_t>(rows.count(0))
                  : static_cast<std::ptrdiff_t>(rows.start(static_cast<std::size_t>(at)));
  }
  Scalar* place(const Carried& state, std::int32_t at) const {
    return state.value + row_start(at) * static_cast<std::ptrdiff_t>(state.width);
  }
  /// The state that an array is at some step, or null.
  Carried* find(const Scalar* value, std::int32_t at) {
    for (Carried& state : carried)
      if (value == place(state, at)) return &state;
    return nullptr;
  }
  const StepStarts& starts(const Made& kind) const { return kind.pairs ? pairs : rows; }

  /// Whether an array has a row for each row of the first step, or one for each pair.
  Made kind_of(const Shape& shape) const {
    const std::size_t first = shape[0];
    const bool is_rows = first == rows.count(0), is_pairs = pairs.steps() > 0 && first == pairs.count(0);
    if (first == 0 || (!is_rows && !is_pairs)) return {};
    return {no_slot, is_pairs && (!is_rows || shape.rank() == 1), shape.size() / first};
  }
};

/// The loops of one pass. Records are kept from pass to pass, so that a repeated one allocates nothing.
template <Backend B>
class Loops {
 public:
  using Scalar = typename B::Scalar;
  using Record = LoopRecord<B>;
  using Numbers = typename B::template Storage<Scalar>;

  void begin(std::span<const std::size_t> rows, std::span<const std::size_t> pairs, const Index* state_rows) {
    if (running_ != nullptr) fail("Loop", "a tape that is not in a loop", "a loop inside of another");
    if (used_ == records_.size()) records_.emplace_back();
    running_ = &records_[used_];
    running_->number = static_cast<std::uint32_t>(used_++);
    running_->rows.assign(rows);
    running_->pairs.assign(pairs);
    running_->step = -1;
    running_->made.clear();
    running_->carried.clear();
    running_->states.clear();
    running_->uses.clear();
    running_->state_rows = state_rows;
    running_->inner = false;
  }
  void end() {
    running_ = nullptr;
    open_ = false;
  }
  void reset() {
    end();
    used_ = 0;
  }

  /// The loop that is running, or null.
  Record* running() { return running_; }
  bool in_step() const { return running_ != nullptr && running_->step >= 0; }
  /// Begins a loop of any number of steps, for a tape that does not record; `next_open` begins each.
  void begin_open() {
    begin({}, {}, nullptr);
    open_ = true;
  }
  void next_open() { ++running_->step; }
  /// Whether such a loop is in a step.
  bool in_open_step() const { return open_ && in_step(); }

  /// Where operations are: outside of all loops, or in a step of one.
  std::uint32_t number() const { return running_ != nullptr ? running_->number : no_slot; }
  std::int32_t step() const { return running_ != nullptr ? running_->step : 0; }
  Record& operator[](std::uint32_t number) { return records_[number]; }

  /// The place of a step's next array: behind that of the step before, or one of its own where it is of
  /// another kind.
  struct Place {
    Scalar* value;
    std::uint32_t slot;
  };
  Place next(const Shape& shape, Arrays<B>& arrays, Arena<Numbers>& values) {
    Record& loop = *running_;
    const std::size_t k = loop.arrays++;
    const auto step = static_cast<std::size_t>(loop.step);
    if (step == 0) {
      typename Record::Made made = loop.kind_of(shape);
      if (made.width > 0) {
        const std::size_t total = made.width * loop.starts(made).total();
        made.slot = arrays.add(Slot<Scalar>{.value = values.allocate(total),
                                            .total = total,
                                            .largest = made.width * loop.starts(made).largest(),
                                            .loop = loop.number});
      }
      loop.made.push_back(made);
    }
    if (k < loop.made.size() && loop.made[k].slot != no_slot) {
      const auto& made = loop.made[k];
      const StepStarts& starts = loop.starts(made);
      if (shape[0] == starts.count(step) && shape.size() == made.width * starts.count(step))
        return {arrays.slot(made.slot).value + starts.start(step) * made.width, made.slot};
    }
    return {values.allocate(shape.size()), no_slot};
  }

 private:
  std::deque<Record> records_;
  std::size_t used_ = 0;
  Record* running_ = nullptr;
  bool open_ = false;
};

}  // namespace bahdanau::detail
