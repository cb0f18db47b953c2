// What a tape knows of a loop: the rows and pairs of each step, and what each step makes.
// The k-th array of a step lies behind the k-th array of the step before, and a state behind the state
// before.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
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

/// One loop. Kept from pass to pass, so that a repeated one allocates nothing.
template <Backend B>
struct LoopRecord {
  using Scalar = typename B::Scalar;

  /// The k-th array of each step.
  struct Made {
    std::uint32_t slot = no_slot;
    bool pairs = false;
    std::size_t width = 0;
  };
  /// A state that goes from step to step.
  struct Carried {
    Scalar* value = nullptr;  // of step 0; that of step -1 lies before it
    std::size_t width = 0;
    std::uint32_t slot = no_slot;
  };

  StepStarts rows, pairs;
  std::int32_t step = -1;
  std::vector<Made> made;
  std::vector<Carried> carried;
  std::vector<std::size_t> uses;        // of weights: the k-th of each step
  std::size_t arrays = 0, weights = 0;  // of the step so far
  const Index* state_rows = nullptr;    // on the device, once somebody needs it: see state_rows_of

  void assign(std::span<const std::size_t> step_rows, std::span<const std::size_t> step_pairs,
              const Index* rows_of_state) {
    rows.assign(step_rows);
    pairs.assign(step_pairs);
    step = -1;
    made.clear();
    carried.clear();
    uses.clear();
    state_rows = rows_of_state;
  }

  /// How far a step's rows are behind those of step 0; the state before step 0 has as many rows as it.
  std::ptrdiff_t row_start(std::int32_t at) const {
    return at < 0 ? -static_cast<std::ptrdiff_t>(rows.count(0))
                  : static_cast<std::ptrdiff_t>(rows.start(static_cast<std::size_t>(at)));
  }
  Scalar* place(const Carried& state, std::int32_t at) const {
    return state.value + row_start(at) * static_cast<std::ptrdiff_t>(state.width);
  }
  /// The state that an array is at some step, or null.
  const Carried* find(const Scalar* value, std::int32_t at) const {
    for (const Carried& state : carried)
      if (value == place(state, at)) return &state;
    return nullptr;
  }

  /// Whether an array has a row for each row of the first step, or one for each pair.
  Made kind_of(const Shape& shape) const {
    const std::size_t first = shape[0];
    const bool is_rows = first == rows.count(0), is_pairs = pairs.steps() > 0 && first == pairs.count(0);
    if (first == 0 || (!is_rows && !is_pairs)) return {};
    return {0, is_pairs && (!is_rows || shape.rank() == 1), shape.size() / first};
  }
};

}  // namespace bahdanau::detail
