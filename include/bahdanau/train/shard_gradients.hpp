// The gradients of a batch from those of its shards: products that all shards put off, added up together.
// Pieces of work are cut by the weights' sizes and add the shards in order, so threads do not change a bit.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <bahdanau/autograd/ops/common.hpp>
#include <bahdanau/autograd/tape.hpp>
#include <bahdanau/core/parallel.hpp>

namespace bahdanau::detail {

/// Adds the shards' weight gradients to one block. Shards keep no block of their own: the largest weights'
/// gradients exist once, however many shards there are.
template <Backend B>
class ShardGradients {
 public:
  using Scalar = typename B::Scalar;

  /// Forgets the shards of the batch before.
  void clear() { shards_.clear(); }

  /// One more shard, whose adjoints were played.
  void add(const Tape<B>& tape, const DeferredWeightGradients<B>& deferred) {
    shards_.push_back({&tape, &deferred});
  }

  /// Adds everything to `gradients`, to which the tapes are bound.
  void sum(Workers& workers, Scalar* gradients) {
    plan();
    workers.run(pieces_.size(), [&](std::size_t i) {
      const Piece& piece = pieces_[i];
      for (const Shard& shard : shards_) {
        for (const WeightGradient<B>& use : shard.deferred->uses())
          if (piece.weight && use.same_weight(*piece.weight)) {
            use.add_to_weight(piece.first, piece.count);
            if (piece.first == 0) use.add_to_bias();
          }
        for (const RowGradient<B>& use : shard.deferred->rows())
          if (use.weight == piece.rows_of) use.add();
      }
    });
    for (const Shard& shard : shards_)
      shard.tape->weights().for_own_gradients([&](std::size_t offset, const Scalar* own, std::size_t n) {
        map_elements<B>(n, pointwise::Identity{}, Add<Scalar>{gradients + offset}, input(own));
      });
  }

 private:
  struct Shard {
    const Tape<B>* tape;
    const DeferredWeightGradients<B>* deferred;
  };
  /// Some outputs of one weight, or all rows of one.
  struct Piece {
    const WeightGradient<B>* weight = nullptr;
    std::size_t first = 0, count = 0;
    const Scalar* rows_of = nullptr;
    std::size_t cost = 0;
  };

  void plan() {
    // elements of a weight in one piece
    constexpr std::size_t largest = std::size_t{1} << (SpreadingBackend<B> ? 40 : 20);
    pieces_.clear();
    for (const Shard& shard : shards_) {
      for (const WeightGradient<B>& use : shard.deferred->uses()) {
        if (planned([&](const Piece& p) { return p.weight && use.same_weight(*p.weight); })) continue;
        const std::size_t cuts = (use.outputs * use.inputs + largest - 1) / largest;
        for (std::size_t c = 0; c < cuts; ++c) {
          const std::size_t first = c * use.outputs / cuts, end = (c + 1) * use.outputs / cuts;
          pieces_.push_back({&use, first, end - first, nullptr, (end - first) * use.inputs});
        }
      }
      for (const RowGradient<B>& use : shard.deferred->rows())
        if (!planned([&](const Piece& p) { return p.rows_of == use.weight; }))
          pieces_.push_back({nullptr, 0, 0, use.weight, 0});
    }
    // The longest first, so that no thread is left alone with one at the end.
    std::sort(pieces_.begin(), pieces_.end(), [](const Piece& a, const Piece& b) { return a.cost > b.cost; });
  }
  template <class F>
  bool planned(F f) const {
    return std::any_of(pieces_.begin(), pieces_.end(), f);
  }

  std::vector<Shard> shards_;
  std::vector<Piece> pieces_;
};

}  // namespace bahdanau::detail
