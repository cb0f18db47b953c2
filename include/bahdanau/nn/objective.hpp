// What a model gives to training for some rows of a batch: features to classify, or a loss of any kind.
// `Training` computes the classes' losses itself, for some rows at a time.
#pragma once

#include <cstddef>
#include <span>

#include <bahdanau/autograd/tape.hpp>

namespace bahdanau {

/// Some rows of a batch: first, ..., first + count - 1.
struct RowRange {
  std::size_t first = 0, count = 0;
};

/// Rows of features, each of a class that a dense layer is to find: the loss is `share` times their
/// cross-entropies. Training computes the layer for some rows at a time, so that no array holds the scores of
/// all.
template <Backend B>
struct Classification {
  Variable<B> features;  // [rows, width]
  Dense layer;           // [classes, width] and [classes]
  std::span<const Index>
      labels;  // [rows], each below `classes`; they must last until the model is asked again
  double share = 1;
};

/// A classification, or a loss of any kind with the number of tokens that it is of.
template <Backend B>
struct Objective {
  Objective(const Classification<B>& of_classes) : classes(of_classes) {}
  /// `sum` [1] is Σ of the tokens' losses; it is reported as nats.
  Objective(const Variable<B>& sum, std::size_t count) : loss(sum), tokens(count) {}

  Classification<B> classes{};
  Variable<B> loss{};  // its tape is null for a classification
  std::size_t tokens = 0;
};

}  // namespace bahdanau
