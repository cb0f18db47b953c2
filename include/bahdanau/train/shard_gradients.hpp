// The gradients of a batch from those of its shards: the products of all of them, added up together.
// Work is divided by the memory that it writes and adds the shards in order, so threads do not change a bit.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include <bahdanau/autograd/ops/common.hpp>
#include <bahdanau/autograd/tape.hpp>
#include <bahdanau/core/parallel.hpp>
#include <bahdanau/train/overlap.hpp>
#include <bahdanau/train/slices.hpp>

namespace bahdanau::detail {

/// What is added to one place: a product to dW, a column sum to db, rows to a table, or what adjoints have
/// added up themselves.
template <Backend B>
struct Contribution {
  Place<typename B::Scalar> place;
  const WeightGradient<B>* product = nullptr;  // the use whose dW it is,
  const WeightGradient<B>* bias = nullptr;     // or whose db,
  const RowGradient<B>* rows = nullptr;        // or the rows,
  const AddedGradient<B>* added = nullptr;     // or what adjoints have added
  std::size_t order = 0;                       // shard by shard, as each shard's tape says
  std::size_t group = 0;                       // contributions of other groups write elsewhere

  /// Adds it; of a product only those rows of dW among first, ..., first + count - 1.
  void add(std::size_t first, std::size_t count) const {
    if (product != nullptr) product->add_to_weight(first, std::min(count, product->outputs - first));
    if (bias != nullptr) bias->add_to_bias();
    if (rows != nullptr) rows->add();
    if (added != nullptr) added->add();
  }
  /// Multiplications and additions that it takes, for all rows of dW.
  std::size_t cost() const {
    if (product != nullptr) return product->outputs * product->inputs * product->rows;
    if (bias != nullptr) return bias->outputs * bias->rows;
    return rows != nullptr ? rows->cols * rows->rows : added->size;
  }
};

/// Adds the shards' weight gradients to one block. Shards keep no block of their own: the largest weights'
/// gradients exist once, however many shards there are.
template <Backend B>
class ShardGradients {
 public:
  using Scalar = typename B::Scalar;

  /// Forgets the shards of the batch before.
  void clear() { shards_.clear(); }

  /// One more shard, whose adjoints were played.
  void add(const Tape<B>& tape) { add({tape.sums().products, tape.sums().rows, tape.sums().added}); }
  struct Shard {
    std::span<const WeightGradient<B>> products;
    std::span<const RowGradient<B>> rows;
    std::span<const AddedGradient<B>> added{};
  };
  void add(const Shard& shard) { shards_.push_back(shard); }

  /// Adds everything to the gradients to which the tapes are bound. Where a thread sends what is `finished`
  /// of them, which then lie in `block`, what it sends first comes first.
  void sum(Workers& workers, FinishedElements* finished = nullptr, const Scalar* block = nullptr) {
    collect();
    group();
    plan();
    const auto elements = [block](const Piece& piece) {
      return Slice{static_cast<std::size_t>(piece.place.begin - block),
                   static_cast<std::size_t>(piece.place.end - block)};
    };
    const auto need = [&](const Piece& piece) {
      return std::pair(finished->first_message(elements(piece), NumberExchange<B>::most), piece.place.begin);
    };
    // As they are sent; else the longest first, so that no thread is left alone with one at the end.
    std::sort(pieces_.begin(), pieces_.end(), [&](const Piece& a, const Piece& b) {
      return finished != nullptr ? need(a) < need(b) : a.cost > b.cost;
    });
    if (finished != nullptr) {
      for (const Piece& piece : pieces_) finished->expect(elements(piece));
      finished->begin();
    }
    workers.run(pieces_.size(), [&](std::size_t i) {
      const Piece& piece = pieces_[i];
      for (std::size_t c = piece.begin; c < piece.end; ++c)
        contributions_[c].add(piece.first_row, piece.row_count);
      if (finished != nullptr) finished->finish(elements(piece));
    });
  }

 private:
  /// All contributions of one group, in order; of products some rows of dW. No two pieces write to the same
  /// memory.
  struct Piece {
    std::size_t begin = 0, end = 0;  // contributions
    std::size_t first_row = 0, row_count = 0;
    std::size_t cost = 0;
    Place<Scalar> place;  // where it writes
  };

  void collect() {
    contributions_.clear();
    const auto add = [&](Contribution<B> c) {
      if (c.place.empty()) return;
      c.order = contributions_.size();
      contributions_.push_back(c);
    };
    for (const Shard& shard : shards_) {
      for (const WeightGradient<B>& use : shard.products) {
        add({.place = use.weight_place(), .product = &use});
        add({.place = use.bias_place(), .bias = &use});
      }
      for (const RowGradient<B>& use : shard.rows) add({.place = use.weight_place(), .rows = &use});
      for (const AddedGradient<B>& use : shard.added) add({.place = use.weight_place(), .added = &use});
    }
  }

  /// Whatever overlaps, directly or by way of others, becomes one group, in which the order is kept.
  void group() {
    std::sort(contributions_.begin(), contributions_.end(), [](const auto& a, const auto& b) {
      return std::tie(a.place.begin, a.order) < std::tie(b.place.begin, b.order);
    });
    std::size_t group = 0;
    const Scalar* end = nullptr;
    for (Contribution<B>& c : contributions_) {
      if (end != nullptr && c.place.begin >= end) ++group;
      end = end == nullptr || c.place.end > end ? c.place.end : end;
      c.group = group;
    }
    std::sort(contributions_.begin(), contributions_.end(), [](const auto& a, const auto& b) {
      return std::tie(a.group, a.order) < std::tie(b.group, b.order);
    });
  }

  void plan() {
    // elements of a weight in one piece
    constexpr std::size_t largest = std::size_t{1} << (SpreadingBackend<B> ? 40 : 20);
    pieces_.clear();
    for (std::size_t begin = 0, end = 0; begin < contributions_.size(); begin = end) {
      std::size_t cost = 0;
      Place<Scalar> place = contributions_[begin].place;
      for (; end < contributions_.size() && contributions_[end].group == contributions_[begin].group; ++end) {
        cost += contributions_[end].cost();
        place = {std::min(place.begin, contributions_[end].place.begin),
                 std::max(place.end, contributions_[end].place.end)};
      }
      const auto [rows, width, stride] = rows_to_divide(begin, end);
      const std::size_t cuts =
          std::clamp<std::size_t>((rows * width + largest - 1) / largest, 1, std::max<std::size_t>(1, rows));
      for (std::size_t c = 0; c < cuts; ++c) {
        const std::size_t first = c * rows / cuts, last = (c + 1) * rows / cuts;
        const Place<Scalar> part{place.begin + first * stride,
                                 c + 1 < cuts ? place.begin + (last - 1) * stride + width : place.end};
        pieces_.push_back({begin, end, first, last - first, cost / cuts, part});
      }
    }
  }

  /// Rows by which a group may be divided, their width, and how far apart they are.
  struct Rows {
    std::size_t count, width, stride;
  };

  /// Products with the rows of one matrix, or with blocks of its columns, write row r to the same memory, and
  /// only there: such a group may be divided by rows. Any other has one piece.
  Rows rows_to_divide(std::size_t begin, std::size_t end) const {
    constexpr Rows undivided{std::numeric_limits<std::size_t>::max(), 0, 0};
    const WeightGradient<B>* head = contributions_[begin].product;
    if (head == nullptr) return undivided;
    const Scalar *left = head->weight, *right = left;  // ends of row 0
    for (std::size_t c = begin; c < end; ++c) {
      const WeightGradient<B>* use = contributions_[c].product;
      if (use == nullptr || use->stride != head->stride || use->outputs != head->outputs) return undivided;
      left = std::min<const Scalar*>(left, use->weight);
      right = std::max<const Scalar*>(right, use->weight + use->inputs);
    }
    const auto width = static_cast<std::size_t>(right - left);
    return width <= head->stride ? Rows{head->outputs, width, head->stride} : undivided;
  }

  std::vector<Shard> shards_;
  std::vector<Contribution<B>> contributions_;
  std::vector<Piece> pieces_;
};

}  // namespace bahdanau::detail
