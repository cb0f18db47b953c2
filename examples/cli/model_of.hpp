// AnyModel for one combination of policies: from here on types, not names.
// Everything that must be compiled for each combination is in this file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <bahdanau/backend/xtensor.hpp>
#include <bahdanau/decode/forced.hpp>
#include <bahdanau/decode/translate.hpp>
#include <bahdanau/encoder_decoder.hpp>
#include <bahdanau/ensemble.hpp>
#include <bahdanau/io/model_file.hpp>
#include <bahdanau/train/optimizer.hpp>
#include <bahdanau/train/trainer.hpp>

#include "any_model.hpp"
#include "models.hpp"
#include "policies.hpp"

namespace cli {

/// Any of the library's optimizers, as one: compiling a trainer for each would take four times as long, and
/// choosing one anew at every step costs nothing beside the step.
struct AnyOptimizer {
  std::variant<bd::Adam, bd::AdamW, bd::Sgd, bd::Adadelta> chosen;
  std::string_view name;
  double rate;

  /// Without a rate of its own Adam takes d2l's, and the others what is usual for them.
  explicit AnyOptimizer(const OptimizerChoice& choice) {
    constexpr double d2l = 0.005;
    if (choice.name == bd::Adam::name) {
      take(bd::Adam{.rate = choice.rate.value_or(d2l)});
    } else if (choice.name == bd::AdamW::name) {
      take(bd::AdamW{.rate = choice.rate.value_or(d2l)});
    } else if (choice.name == bd::Sgd::name) {
      take(bd::Sgd{.rate = choice.rate.value_or(bd::Sgd{}.rate)});
    } else if (choice.name == bd::Adadelta::name) {
      take(bd::Adadelta{.rate = choice.rate.value_or(bd::Adadelta{}.rate)});
    } else {
      bd::fail("optimizer", R"("adam", "adamw", "sgd" or "adadelta")", bd::detail::quote(choice.name));
    }
  }

  void check() const {
    std::visit([](const auto& optimizer) { optimizer.check(); }, chosen);
  }

  bd::OptimizerSettings settings() const {
    return std::visit([](const auto& optimizer) { return optimizer.settings(); }, chosen);
  }

  template <bd::Backend B>
  void update(bd::OptimizerState<B>& state, bd::ParameterBlock<B>& weights,
              const bd::ParameterBlock<B>& gradients, const bd::StepScale& scale) const {
    std::visit([&](const auto& optimizer) { optimizer.update(state, weights, gradients, scale); }, chosen);
  }

 private:
  template <class Optimizer>
  void take(const Optimizer& optimizer) {
    chosen = optimizer;
    name = Optimizer::name;
    rate = optimizer.rate;
  }
};

/// What a model and a frozen one have in common.
template <class Model, class Base>
class InferenceOf : public Base {
 public:
  explicit InferenceOf(Model model) : model_(std::move(model)) {}

  PolicyNames policies() const override {
    return {std::string(Model::Cell::name), std::string(Model::Score::name),
            std::string(Model::Encoder::name), std::string(Model::Decoder::name),
            std::string(Model::Readout::name)};
  }
  const bd::Config& config() const override { return model_.config(); }
  const bd::Vocabularies& vocabularies() const override { return model_.vocabularies(); }
  std::size_t weights() const override {
    std::size_t total = 0;
    for (const auto& entry : model_.parameters().entries()) total += entry.parameter.shape.size();
    return total;
  }

  std::vector<bd::Translation> score(std::span<const bd::SentencePair> pairs,
                                     std::size_t batch) const override {
    return bd::score_pairs(model_, pairs, batch);
  }

  std::vector<std::vector<bd::Translation>> translate(std::span<const std::string> sentences,
                                                      const Search& search) const override {
    if (const auto* beam = std::get_if<bd::Beam>(&search))
      return bd::translate_nbest(model_, sentences, *beam);
    std::vector<std::vector<bd::Translation>> out;
    for (bd::Translation& best : model_.translate(sentences, std::get<bd::Greedy>(search)))
      out.emplace_back().push_back(std::move(best));
    return out;
  }

 protected:
  Model model_;
};

template <class Model>
class FrozenOf final : public InferenceOf<bd::Frozen<Model>, FrozenModel> {
 public:
  using InferenceOf<bd::Frozen<Model>, FrozenModel>::InferenceOf;

  bd::EnsembleMember member(std::string name) const override { return {this->model_, std::move(name)}; }
};

template <class Model>
class ModelOf final : public InferenceOf<Model, TrainableModel> {
 public:
  using InferenceOf<Model, TrainableModel>::InferenceOf;

  bd::TrainingReport train(const bd::Corpus& corpus, const bd::Corpus* validation,
                           const OptimizerChoice& optimizer, const bd::TrainerOptions& options) override {
    bd::Trainer trainer(this->model_, AnyOptimizer(optimizer), options);
    return validation ? trainer.fit(corpus, *validation) : trainer.fit(corpus);
  }

  void save(const std::filesystem::path& path) const override { this->model_.save(path); }
};

template <class Model>
std::unique_ptr<AnyModel> FromFile::make() const {
  return std::make_unique<FrozenOf<Model>>(bd::Frozen<Model>::load(path));
}
template <class Model>
std::unique_ptr<AnyModel> FromSeed::make() const {
  Model model(config, vocabularies, seed);
  if constexpr (bd::models::OfPaper<Model>)
    if (first == FirstWeights::of_paper) bd::models::defaults<Model>().initialize(model, seed);
  return std::make_unique<ModelOf<Model>>(std::move(model));
}

/// A `FrozenModel` from a file, a `TrainableModel` from a seed.
template <class Model>
std::unique_ptr<AnyModel> model_from(const Origin& origin) {
  return std::visit([](const auto& from) { return from.template make<Model>(); }, origin);
}

template <class Cell>
std::unique_ptr<AnyModel> model_with(std::string_view where, const PolicyNames& names, const Origin& origin) {
  std::unique_ptr<AnyModel> result;
  choose_score_and_encoder(where, names.score, names.encoder, [&]<class Score, class Encoder>() {
    result = model_from<bd::EncoderDecoder<Cell, Score, bd::Xtensor<float>, Encoder>>(origin);
  });
  return result;
}

template <class Paper>
std::unique_ptr<AnyModel> model_of_paper(const Origin& origin) {
  return model_from<typename Paper::Model>(origin);
}

}  // namespace cli
