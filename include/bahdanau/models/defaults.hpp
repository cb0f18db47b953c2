// What a paper says of its model besides its equations: sizes, first weights, optimizer, training.
// Each model of models/ specialises `Paper`; `defaults<Model>()` reads it.
#pragma once

#include <cstddef>
#include <cstdint>

#include <bahdanau/model/config.hpp>
#include <bahdanau/nn/parameter.hpp>
#include <bahdanau/text/vocabularies.hpp>
#include <bahdanau/train/options.hpp>

namespace bahdanau::models {

/// The choices of a paper. A paper divides the loss of a minibatch by its sentences, and we by `loss_divisor`
/// (`max_length`, or 10 without one): rates and norms are converted, so that a step is the paper's.
///
///     auto paper = bd::models::defaults<Model>(/*loss_divisor=*/50);
///     auto corpus = bd::Corpus::read(path, {.max_length = 50, .reverse_source = paper.reverse_source});
///     Model model(paper.config, corpus.vocabularies());
///     paper.initialize(model, /*seed=*/1);
///     bd::Trainer(model, paper.optimizer, paper.training).fit(corpus);
template <class Optimizer>
struct Defaults {
  Config config;
  Initializer (*initializer)(const ParameterList::Entry&);  // how each parameter is drawn
  Optimizer optimizer;
  TrainerOptions training;
  bool reverse_source = false;  // for the corpus: a model takes it over with the corpus's vocabularies

  /// Draws all weights anew, as the paper does.
  template <class Model>
  void initialize(Model& model, std::uint64_t seed) const {
    model.weights().initialize(model.parameters(), seed, initializer);
  }
};

/// Where a model's defaults are; each model of this namespace specialises it.
template <class Model>
struct Paper {};

/// Whether a model is one of this namespace's.
template <class Model>
concept OfPaper = requires {
  Paper<Model>::defaults(10.0);
};

/// The choices of the paper that a model is from, for data with that `loss_divisor()`.
template <class Model>
auto defaults(std::size_t loss_divisor = TextOptions{}.loss_divisor()) {
  static_assert(
      OfPaper<Model>,
      "bahdanau: models::defaults knows the models of bahdanau::models alone; give a model of one's "
      "own its Config, optimizer and TrainerOptions");
  if constexpr (OfPaper<Model>) return Paper<Model>::defaults(static_cast<double>(loss_divisor));
}

}  // namespace bahdanau::models
