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
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <bahdanau/backend/xtensor.hpp>
#include <bahdanau/decode/forced.hpp>
#include <bahdanau/decode/translate.hpp>
#include <bahdanau/encoder_decoder.hpp>
#include <bahdanau/ensemble.hpp>
#include <bahdanau/io/model_file.hpp>
#include <bahdanau/io/start_from.hpp>
#include <bahdanau/models/defaults.hpp>
#include <bahdanau/train/optimizer.hpp>
#include <bahdanau/train/trainer.hpp>

#include "any_model.hpp"
#include "registry.hpp"

namespace cli {

/// Any of the library's optimizers, as one: compiling a trainer for each would take four times as long, and
/// choosing one anew at every step costs nothing beside the step.
struct AnyOptimizer {
  static constexpr bool elementwise = true;  // as all of them are
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

template <class Model>
PolicyNames policies_of() {
  return {std::string(Model::Cell::name), std::string(Model::Score::name), std::string(Model::Encoder::name),
          std::string(Model::Decoder::name), std::string(Model::Readout::name)};
}

/// What can be said of a model and of a frozen one.
template <class Model, class Base>
class Described : public Base {
 public:
  explicit Described(Model model) : model_(std::move(model)) {}

  PolicyNames policies() const override { return policies_of<Model>(); }
  const bd::Config& config() const override { return model_.config(); }
  const bd::Vocabularies& vocabularies() const override { return model_.vocabularies(); }
  std::size_t weights() const override {
    std::size_t total = 0;
    for (const auto& entry : model_.parameters().entries()) total += entry.parameter.shape.size();
    return total;
  }

 protected:
  Model model_;
};

template <class Model>
class FrozenOf final : public Described<bd::Frozen<Model>, FrozenModel> {
 public:
  using Described<bd::Frozen<Model>, FrozenModel>::Described;

  bd::EnsembleMember member(std::string name) const override { return {this->model_, std::move(name)}; }

  std::vector<bd::Translation> score(std::span<const bd::SentencePair> pairs,
                                     std::size_t batch) const override {
    return bd::score_pairs(this->model_, pairs, batch);
  }

  std::vector<std::vector<bd::Translation>> translate(std::span<const std::string> sentences,
                                                      const Search& search) const override {
    if (const auto* beam = std::get_if<bd::Beam>(&search))
      return bd::translate_nbest(this->model_, sentences, *beam);
    std::vector<std::vector<bd::Translation>> out;
    for (bd::Translation& best : this->model_.translate(sentences, std::get<bd::Greedy>(search)))
      out.emplace_back().push_back(std::move(best));
    return out;
  }
};

/// It translates as a frozen model, so that searching is compiled once.
template <class Model>
class ModelOf final : public Described<Model, TrainableModel> {
 public:
  using Described<Model, TrainableModel>::Described;

  std::vector<bd::Translation> score(std::span<const bd::SentencePair> pairs,
                                     std::size_t batch) const override {
    return FrozenOf<Model>(this->model_.freeze()).score(pairs, batch);
  }
  std::vector<std::vector<bd::Translation>> translate(std::span<const std::string> sentences,
                                                      const Search& search) const override {
    return FrozenOf<Model>(this->model_.freeze()).translate(sentences, search);
  }

  bd::TrainingReport train(const bd::Corpus& corpus, const bd::Corpus* validation,
                           const OptimizerChoice& optimizer, const bd::TrainerOptions& options) override {
    return train_on(corpus, validation, optimizer, options);
  }
  bd::TrainingReport train(const bd::CorpusFile& corpus, const bd::CorpusFile* validation,
                           const OptimizerChoice& optimizer, const bd::TrainerOptions& options) override {
    return train_on(corpus, validation, optimizer, options);
  }

  void save(const std::filesystem::path& path) const override { this->model_.save(path); }
  bd::KnownTokens start_from(const std::filesystem::path& path) override {
    return bd::start_from(this->model_, path);
  }
  std::size_t load_source_embeddings(const std::filesystem::path& path) override {
    return bd::load_source_embeddings(this->model_, path);
  }
  std::size_t load_target_embeddings(const std::filesystem::path& path) override {
    return bd::load_target_embeddings(this->model_, path);
  }

 private:
  template <class Pairs>
  bd::TrainingReport train_on(const Pairs& corpus, const Pairs* validation, const OptimizerChoice& optimizer,
                              const bd::TrainerOptions& options) {
    bd::Trainer trainer(this->model_, AnyOptimizer(optimizer), options);
    return validation ? trainer.fit(corpus, *validation) : trainer.fit(corpus);
  }
};

template <class Model>
std::unique_ptr<FrozenModel> load_model(const std::filesystem::path& path) {
  return std::make_unique<FrozenOf<Model>>(bd::Frozen<Model>::load(path));
}

template <class Model>
std::unique_ptr<TrainableModel> create_model(const NewModel& made_from) {
  Model model(made_from.config, made_from.vocabularies, made_from.seed);
  if (made_from.first) model.weights().initialize(model.parameters(), made_from.seed, made_from.first);
  return std::make_unique<ModelOf<Model>>(std::move(model));
}

/// Of a model without numbers: how wide the readout is does not depend on vocabularies, nor on the text.
template <class Model>
std::size_t readout_width(const bd::Config& config) {
  using Architecture = std::remove_cvref_t<decltype(std::declval<const Model&>().architecture())>;
  bd::Config untied = config;
  untied.tied = false;
  untied.final_state = bd::FinalState::valid;
  return Architecture(untied, {bd::Vocabulary::numbered(4), bd::Vocabulary::numbered(4), {}})
      .decoder_network()
      .dense()
      .weight.shape.cols();
}

template <class Model>
PaperChoices choices_of(std::size_t loss_divisor) {
  const auto paper = bd::models::defaults<Model>(loss_divisor);
  return {paper.config,
          paper.initializer,
          {std::string(paper.optimizer.name), paper.optimizer.rate},
          paper.training,
          paper.reverse_source};
}

template <class Model>
Combination compiled() {
  return {policies_of<Model>(), &load_model<Model>, &create_model<Model>, &readout_width<Model>};
}

/// A paper's model under the name of its architecture.
template <class Model>
Combination compiled(std::string_view architecture) {
  return {policies_of<Model>(),  &load_model<Model>, &create_model<Model>,
          &readout_width<Model>, architecture,       &choices_of<Model>};
}

/// d2l's model with others in the place of its policies.
template <class Cell, class Score, class... Others>
using D2lWith = bd::EncoderDecoder<Cell, Score, bd::Xtensor<float>, Others...>;

}  // namespace cli
