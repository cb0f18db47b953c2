// Replicas: a batch is cut into as many runs of rows, whose gradients are added as a balanced binary tree.
// Who computes them is left open: one process after the other, or several processes, each a whole subtree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <bahdanau/distributed/collectives.hpp>
#include <bahdanau/nn/objective.hpp>
#include <bahdanau/nn/weights.hpp>
#include <bahdanau/train/loss.hpp>
#include <bahdanau/train/slices.hpp>

namespace bahdanau::detail {

/// Which rows of a batch are whose. Of n rows, replica r of R has ⌊r n / R⌋, ..., ⌊(r + 1) n / R⌋ - 1,
/// perhaps none; process p of P has the replicas p R / P, ..., (p + 1) R / P - 1.
struct Replicas {
  std::size_t count = 1;  // R, a power of two
  std::size_t rank = 0, processes = 1;

  /// Replicas of this process.
  std::size_t own() const { return count / processes; }
  /// The rows of the i-th of them.
  RowRange rows(std::size_t i, std::size_t n) const {
    const std::size_t r = rank * own() + i;
    // ⌊r n / R⌋ without a product that could be too large: n = q R + m.
    const auto begin = [&](std::size_t k) { return n / count * k + n % count * k / count; };
    return {begin(r), begin(r + 1) - begin(r)};
  }
  /// The rows of all of them: one run.
  RowRange own_rows(std::size_t n) const {
    const RowRange first = rows(0, n), last = rows(own() - 1, n);
    return {first.first, last.first + last.count - first.first};
  }
};

/// Losses that are added as the gradients are.
inline Loss tree_sum(std::span<const Loss> losses) {
  if (losses.size() == 1) return losses[0];
  Loss sum = tree_sum(losses.first(losses.size() / 2));
  return sum += tree_sum(losses.subspan(losses.size() / 2));
}

/// What processes tell each other with every loss: rank by rank, or'ed.
struct LossMessage {
  Loss loss{};
  std::uint64_t flags = 0;

  static LossMessage sum(const LossMessage& lower, const LossMessage& upper) {
    LossMessage both = lower;
    both.loss += upper.loss;
    both.flags |= upper.flags;
    return both;
  }
};

/// Adds gradients that come one after the other, by number, as a balanced binary tree: a binary counter,
/// whose k-th digit is the sum of 2^k of them. So log₂ n blocks are enough for n of them, beside their own.
template <Backend B>
class GradientTree {
 public:
  using Scalar = typename B::Scalar;

  /// The i-th gradient of `count`, a power of two, is in `block`, where after the last one their sum is.
  void add(std::size_t i, std::size_t count, ParameterBlock<B>& block, Workers& workers) {
    std::size_t level = 0;
    for (; (i >> level & 1) != 0; ++level)
      map_on_threads<B>(&workers, block.size(), pointwise::Identity{}, Add<Scalar>{numbers_to_change(block)},
                        numbers(sums_[level]));
    if (i + 1 == count) return;
    if (level < sums_.size())
      map_on_threads<B>(&workers, block.size(), pointwise::Identity{},
                        Store<Scalar>{numbers_to_change(sums_[level])}, numbers(block));
    else
      sums_.push_back(block);
  }

  /// Those that it keeps, beside the one that is given to it.
  std::size_t blocks() const { return sums_.size(); }

 private:
  std::vector<ParameterBlock<B>> sums_;  // of 1, 2, 4, ... gradients
};

}  // namespace bahdanau::detail
