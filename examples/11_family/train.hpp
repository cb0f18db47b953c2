// One member's turn: sizes that keep to the budget, the training, the held-out translations.
// This is all that is compiled for each model.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <bahdanau/backend/xtensor.hpp>
#include <bahdanau/encoder_decoder.hpp>
#include <bahdanau/metric/bleu.hpp>
#include <bahdanau/models/defaults.hpp>
#include <bahdanau/text/corpus.hpp>
#include <bahdanau/train/optimizer.hpp>
#include <bahdanau/train/trainer.hpp>

#include "family.hpp"

namespace family {

template <class Model>
std::size_t parameters_of(const bd::Config& config, const bd::Vocabularies& vocabularies) {
  using Architecture = std::remove_cvref_t<decltype(std::declval<const Model&>().architecture())>;
  const Architecture without_numbers(config, vocabularies);
  std::size_t total = 0;
  for (const auto& entry : without_numbers.parameters().entries()) total += entry.parameter.shape.size();
  return total;
}

/// The widths whose number of parameters comes nearest to the budget from below. It grows with both: first
/// hidden, in fours, which four heads divide, with an embed as wide; then an embed that fills what is left.
template <class Model>
bd::Config within_budget(bd::Config config, const bd::Vocabularies& vocabularies, std::size_t budget) {
  // The largest x from `least` on with which it fits; `least`, if there is none.
  const auto largest = [&](std::size_t least, auto&& set) {
    const auto fits = [&](std::size_t x) {
      set(x);
      return parameters_of<Model>(config, vocabularies) <= budget;
    };
    std::size_t low = least, high = least + 1;
    while (fits(high)) low = std::exchange(high, 2 * high);
    while (high - low > 1) {
      const std::size_t middle = (low + high) / 2;
      (fits(middle) ? low : high) = middle;
    }
    set(low);
    return low;
  };
  const std::size_t fours = largest(1, [&](std::size_t x) { config.embed = config.hidden = 4 * x; });
  largest(4 * fours, [&](std::size_t x) { config.embed = x; });
  return config;
}

/// Trains one model and translates what it has not seen.
template <class Model>
Outcome train(const Member& member, const Plan& plan, const std::vector<LengthGroup>& groups,
              bd::Config config, bool reverse_source) {
  const bd::CorpusOptions text{.max_length = plan.max_length, .reverse_source = reverse_source};
  const auto corpus = bd::Corpus::from_pairs(plan.training, text);
  config.dropout = 0.1F;
  Model model(within_budget<Model>(config, corpus.vocabularies(), plan.budget), corpus.vocabularies(),
              plan.seed);
  const std::filesystem::path checkpoint = plan.folder / (std::string(member.name) + ".checkpoint");
  const auto report = bd::Trainer(model, bd::Adam{.rate = plan.rate},
                                  {.epochs = plan.epochs,
                                   .seed = plan.seed,
                                   .progress = plan.resume ? bd::Progress::automatic : bd::Progress::silent,
                                   .checkpoint = plan.resume ? checkpoint : std::filesystem::path(),
                                   .resume = plan.resume})
                          .fit(corpus);
  Outcome outcome;
  outcome.embed = model.config().embed;
  outcome.hidden = model.config().hidden;
  outcome.parameters = parameters_of<Model>(model.config(), corpus.vocabularies());
  std::vector<double> speeds;
  for (const bd::EpochReport& epoch : report.epochs) {
    outcome.loss.push_back(epoch.training.nats_per_token());
    speeds.push_back(epoch.tokens_per_second());
  }
  std::sort(speeds.begin(), speeds.end());
  outcome.tokens_per_second = speeds[speeds.size() / 2];

  std::vector<std::string> sources;
  for (const bd::SentencePair& pair : plan.held_out) sources.push_back(pair.source);
  const std::vector<bd::Translation> found = model.translate(sources);
  bd::CorpusBleu all;
  std::vector<bd::CorpusBleu> by_length(groups.size());
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const auto predicted = bd::tokenize(found[i].text, {.tokens = bd::Tokens::none});
    const auto reference = bd::tokenize(plan.held_out[i].target, text.text());
    const std::size_t length = bd::tokenize(sources[i], text.text()).size();
    all.add(predicted, reference);
    for (std::size_t g = 0; g < groups.size(); ++g)
      if (length >= groups[g].least && length <= groups[g].most) by_length[g].add(predicted, reference);
  }
  outcome.bleu = all.score();
  for (const bd::CorpusBleu& bleu : by_length) outcome.bleu_by_length.push_back(bleu.score());
  std::filesystem::remove(checkpoint);
  return outcome;
}

/// A member whose model is `Model`; `Paper` is the model whose choices it takes, if that is another. Of a
/// paper's layers it takes two at most: narrow ones are not worth stacking high.
template <class Model, class Paper = Model>
Member member(std::string_view name, std::string_view parts) {
  return {name, parts, Model::Score::name != "none",
          [](const Member& self, const Plan& plan, const std::vector<LengthGroup>& groups) {
            if constexpr (bd::models::OfPaper<Paper>) {
              const auto paper = bd::models::defaults<Paper>();
              return train<Model>(self, plan, groups,
                                  {.layers = std::min<std::size_t>(paper.config.layers, 2),
                                   .bridge = paper.config.bridge,
                                   .tied = paper.config.tied},
                                  paper.reverse_source);
            } else {
              return train<Model>(self, plan, groups, {}, false);
            }
          }};
}

/// d2l's model with others in the place of its policies.
template <class Cell, class Score, class... Others>
using Model = bd::EncoderDecoder<Cell, Score, bd::Xtensor<float>, Others...>;

/// How wide a maxout layer is here. The papers' 500 is half of their hidden, and would be all of a small
/// budget.
inline constexpr std::size_t maxout = 128;

}  // namespace family
