// The dense layer, its loss and their gradients for a whole batch, some rows at a time.
// The logits of all tokens are by far the largest array of a training step; here they never exist at once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <bahdanau/autograd/ops/product.hpp>
#include <bahdanau/autograd/ops/softmax.hpp>
#include <bahdanau/autograd/workspace.hpp>
#include <bahdanau/core/parallel.hpp>
#include <bahdanau/train/loss.hpp>

namespace bahdanau::detail {

/// logits = h Wᵀ + b, cross-entropy, and at once dh, dW and db. Rows are cut by their number alone and added
/// up in order, so threads do not change a bit.
template <Backend B>
class OutputLoss {
 public:
  using Scalar = typename B::Scalar;

  /// The tokens of one shard.
  struct Rows {
    const Scalar* h;      // [count, hidden]
    Scalar* dh;           // the same, stored; or null
    const Index* target;  // [count]
    std::size_t count;
  };

  /// The dense layer.
  struct Layer {
    const Scalar *weight, *bias;  // [classes, hidden], [classes]
    Scalar *d_weight, *d_bias;    // added to; null: no gradients
    std::size_t classes, hidden;
    const Scalar *packed = nullptr, *packed_adjoint = nullptr;  // or null

    WeightMatrix<B> forward() const { return {weight, hidden, classes, hidden, Transpose::yes}; }
    WeightMatrix<B> adjoint() const { return {weight, classes, hidden, hidden, Transpose::no}; }

    /// Takes the packed weights, where the rows are so short that a product cannot lay them out itself.
    void pack(WeightPanels<B>& panels) {
      constexpr std::size_t deep = 128;
      if (PackedProducts<B>::packs() && hidden < deep) {
        packed = panels.get(forward());
        if (d_weight != nullptr) packed_adjoint = panels.get(adjoint());
      }
    }
  };

  /// The logits lie in `workspace`, if given and large enough; it must outlive this object.
  explicit OutputLoss(Workspace<Scalar>* workspace = nullptr) : workspace_(workspace) {}

  /// Elements of the logits that exist at once, for a batch of so many tokens.
  static std::size_t logits(std::size_t tokens, std::size_t classes) {
    return std::min(tokens, std::max(block_pieces * piece_rows, block_elements / classes)) * classes;
  }

  /// Forgets the rows of the batch before.
  void clear() { shards_.clear(); }
  void add(const Rows& shard) { shards_.push_back(shard); }

  /// The loss of all rows; gradients are of Σ nats · `share`, with the targets smoothed.
  Loss run(Workers& workers, const Layer& layer, double share, double smoothing) {
    const std::size_t rows = plan(layer.hidden);
    logits_.allocate(logits(rows, layer.classes), workspace_);
    if (nats_.size() < rows) nats_ = Numbers(rows);
    if (smoothing != 0 && losses_.size() < rows) losses_ = Numbers(rows);
    const bool gradients = layer.d_weight != nullptr;
    // An even number of parts, however large the weight is: most machines have an even number of cores.
    const std::size_t cuts =
        SpreadingBackend<B> ? 1
                            : 2 * ((layer.classes * layer.hidden + 2 * weight_part - 1) / (2 * weight_part));
    const auto for_classes = [&](auto f) {
      workers.run(cuts, [&](std::size_t c) {
        const std::size_t begin = c * layer.classes / cuts;
        f(Classes{begin, (c + 1) * layer.classes / cuts - begin});
      });
    };
    for (std::size_t first = 0; first < pieces_.size();) {
      const std::size_t end = block_end(first, layer.classes);
      if (!layer.packed) for_classes([&](Classes classes) { compute_logits(first, end, layer, classes); });
      workers.run(end - first,
                  [&](std::size_t i) { run_piece(pieces_[first + i], layer, share, smoothing); });
      if (gradients) for_classes([&](Classes classes) { add_to_weight(first, end, layer, classes); });
      first = end;
    }
    Loss loss;
    loss.nats = B::sum(rows, nats_.data());
    loss.sum = (smoothing == 0 ? loss.nats : B::sum(rows, losses_.data())) * share;
    loss.tokens = rows;
    return loss;
  }

 private:
  using Numbers = typename B::template Storage<Scalar>;

  // For which a weight is laid out with little loss, or a device is busy.
  static constexpr std::size_t piece_rows = SpreadingBackend<B> ? 2048 : 256;
  static constexpr std::size_t weight_part = 1U << 19;  // elements of a weight in one piece of work
  // Whose logits exist at once; more pieces would keep more cores busy, and take more memory.
  static constexpr std::size_t block_pieces = 2, block_elements = 1U << 22;

  struct Classes {
    std::size_t first, count;
  };

  /// Rows of one shard that are computed in one go.
  struct Piece {
    Rows rows;
    std::size_t first;   // among all rows
    std::size_t logits;  // the place of its logits in the block
  };

  /// Cuts the shards into pieces of equal size; returns the number of rows.
  std::size_t plan(std::size_t hidden) {
    pieces_.clear();
    std::size_t total = 0;
    for (const Rows& shard : shards_) {
      const std::size_t cuts = (shard.count + piece_rows - 1) / piece_rows;
      for (std::size_t c = 0; c < cuts; ++c) {
        const std::size_t begin = c * shard.count / cuts, end = (c + 1) * shard.count / cuts;
        pieces_.push_back({{shard.h + begin * hidden, shard.dh ? shard.dh + begin * hidden : nullptr,
                            shard.target + begin, end - begin},
                           total + begin,
                           0});
      }
      total += shard.count;
    }
    return total;
  }

  /// Where the block that begins with a piece ends; places its logits.
  std::size_t block_end(std::size_t first, std::size_t classes) {
    std::size_t end = first, rows = 0;
    while (end < pieces_.size() &&
           (end - first < block_pieces || (rows + pieces_[end].rows.count) * classes <= block_elements)) {
      pieces_[end].logits = rows * classes;
      rows += pieces_[end++].rows.count;
    }
    return end;
  }

  /// Calls f(first piece, rows) for the pieces of a block, those of one shard together: they lie one behind
  /// the other.
  template <class F>
  void for_runs(std::size_t first, std::size_t end, const Layer& layer, F f) const {
    while (first < end) {
      const Piece& start = pieces_[first];
      std::size_t rows = 0;
      while (first < end && pieces_[first].rows.h == start.rows.h + rows * layer.hidden)
        rows += pieces_[first++].rows.count;
      f(start, rows);
    }
  }

  /// logits = h Wᵀ + b for some of the classes: each core lays out its own part of the weight.
  void compute_logits(std::size_t first, std::size_t end, const Layer& layer, Classes some) {
    for_runs(first, end, layer, [&](const Piece& start, std::size_t rows) {
      Scalar* logits = logits_.data() + start.logits + some.first;
      WeightMatrix<B> part = layer.forward();
      part.data += some.first * layer.hidden;
      part.n = some.count;
      multiply<B>(part, {start.rows.h, rows, layer.hidden}, {layer.bias + some.first, 0}, logits,
                  layer.classes);
    });
  }

  /// The loss of some rows, and dh.
  void run_piece(const Piece& piece, const Layer& layer, double share, double smoothing) {
    const Rows& rows = piece.rows;
    Scalar* logits = logits_.data() + piece.logits;
    const ProductRows<Scalar> h{rows.h, rows.count, layer.hidden},
        d_logits{logits, rows.count, layer.classes};
    if (layer.packed) product(layer.forward(), layer.packed, h, {layer.bias, 0}, logits);
    B::for_rows(rows.count,
                CrossEntropyRow<Scalar>{logits, nats_.data() + piece.first,
                                        smoothing == 0 ? nullptr : losses_.data() + piece.first, rows.target,
                                        layer.classes, static_cast<Scalar>(share),
                                        static_cast<Scalar>(smoothing), layer.d_weight != nullptr});
    // logits = h Wᵀ + b  =>  dh = dlogits W
    if (rows.dh != nullptr) product(layer.adjoint(), layer.packed_adjoint, d_logits, {}, rows.dh);
  }

  static void product(const WeightMatrix<B>& w, const Scalar* packed, const ProductRows<Scalar>& x,
                      Addend<Scalar> addend, Scalar* y) {
    if (packed == nullptr) return multiply<B>(w, x, addend, y, w.n);
    PackedProducts<B>::multiply(x.rows, w.n, w.k, x.data, x.stride, packed, addend.data, addend.stride, y,
                                w.n);
  }

  /// logits = h Wᵀ + b  =>  dW += dlogitsᵀ h, db += Σ dlogits, for some of the classes.
  void add_to_weight(std::size_t first, std::size_t end, const Layer& layer, Classes some) const {
    for_runs(first, end, layer, [&](const Piece& start, std::size_t rows) {
      const Scalar* d_logits = logits_.data() + start.logits + some.first;
      B::gemm(Transpose::yes, Transpose::no, some.count, layer.hidden, rows, Scalar(1), d_logits,
              layer.classes, start.rows.h, layer.hidden, Scalar(1),
              layer.d_weight + some.first * layer.hidden, layer.hidden);
      B::column_sum(rows, some.count, d_logits, layer.classes, layer.d_bias + some.first);
    });
  }

  Workspace<Scalar>* workspace_;
  std::vector<Rows> shards_;
  std::vector<Piece> pieces_;
  WorkspaceNumbers<Numbers> logits_;
  Numbers nats_, losses_;
};

}  // namespace bahdanau::detail
