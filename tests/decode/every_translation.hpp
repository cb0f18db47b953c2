// Every translation that there can be, by trying them all: what searches are compared with.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <bahdanau/bahdanau.hpp>

#include "support/sequences.hpp"

namespace bahdanau::test {

/// One of them.
struct Tried {
  std::vector<std::string> target;
  double score = 0;               // Σ ln p
  std::vector<double> log_probs;  // of each token
  std::vector<double> attended;   // Σ_t α_ti of each source token
  double rank = 0;
};

/// A toy model over the words "4" to "6", split on spaces and left alone, with weights large enough to have
/// opinions.
template <class Model>
Model toy_model(std::uint64_t seed) {
  Vocabularies v = numbered(7, 7, 4);
  v.text.tokens = Tokens::none;
  Model model({.embed = 4, .hidden = 5, .layers = 1}, v, seed);
  model.weights().change([](auto numbers) {
    for (auto& number : numbers) number *= 2;
  });
  return model;
}

/// All that end with `<eos>`, or are cut at `longest` tokens, by one model or by the mean of several: what
/// `mean` makes of their probabilities of a token.
template <class... Models>
std::vector<Tried> every_translation(const std::string& source, std::size_t longest,
                                     const std::function<double(std::vector<double>)>& mean,
                                     const Models&... models) {
  std::vector<Tried> found;
  const Vocabularies& v = std::get<0>(std::tie(models...)).vocabularies();
  std::vector<Token> ids = v.source.encode(tokenize(source, v.text));
  ids.push_back(reserved::eos);
  const Sequences row = Sequences::from_rows(std::vector<std::vector<Token>>{ids});
  const auto grow = [&](const auto& self, const Tried& sofar, Token last, auto... states) -> void {
    std::vector<std::vector<double>> probabilities(v.target.size());
    std::vector<double> attention(ids.size(), 0);
    const auto step = [&](const auto& model, auto& state) {
      const auto logits = model.step(std::vector<Token>{last}, state);
      double total = 0;
      for (const auto x : logits) total += std::exp(static_cast<double>(x));
      for (std::size_t t = 0; t < probabilities.size(); ++t)
        probabilities[t].push_back(std::exp(static_cast<double>(logits(0, t))) / total);
      const auto& weights = model.attention_weights(state).back();
      for (std::size_t i = 0; i < attention.size(); ++i)
        attention[i] += static_cast<double>(weights(0, i)) / static_cast<double>(sizeof...(models));
    };
    (step(models, states), ...);
    for (std::size_t t = 0; t < probabilities.size(); ++t) {
      Tried next = sofar;
      next.target.push_back(v.target.token(static_cast<Token>(t)));
      next.log_probs.push_back(mean(probabilities[t]));
      next.score += next.log_probs.back();
      for (std::size_t i = 0; i < attention.size(); ++i) next.attended[i] += attention[i];
      if (t == static_cast<std::size_t>(reserved::eos) || next.target.size() == longest)
        found.push_back(next);
      else
        self(self, next, static_cast<Token>(t), states...);
    }
  };
  Tried nothing;
  nothing.attended.assign(ids.size(), 0);
  grow(grow, nothing, reserved::bos, models.init_state(models.encode(row))...);
  return found;
}

/// ln p of one model's.
inline double log_of_first(const std::vector<double>& probabilities) {
  return std::log(probabilities.front());
}

inline bool has_phrase(const std::vector<std::string>& words, const std::string& phrase) {
  const std::vector<std::string> wanted = tokenize(phrase, {.tokens = Tokens::none});
  return std::search(words.begin(), words.end(), wanted.begin(), wanted.end()) != words.end();
}

/// Whether one keeps to what a beam was told.
inline bool keeps(const Tried& tried, const Beam& beam) {
  const auto& words = tried.target;
  if (words.back() == "<eos>" && words.size() < beam.min_length) return false;
  const std::vector<std::string> prefix = tokenize(beam.prefix, {.tokens = Tokens::none});
  if (words.size() < prefix.size() || !std::equal(prefix.begin(), prefix.end(), words.begin())) return false;
  const auto has = [&](const std::string& phrase) { return has_phrase(words, phrase); };
  return std::none_of(beam.forbidden.begin(), beam.forbidden.end(), has) &&
         std::all_of(beam.required.begin(), beam.required.end(), has);
}

/// Those that do, best first.
inline std::vector<Tried> ranked(std::vector<Tried> all, const Beam& beam) {
  std::erase_if(all, [&](const Tried& tried) { return !keeps(tried, beam); });
  for (Tried& tried : all) {
    const auto length = static_cast<double>(tried.target.size());
    tried.rank =
        tried.score / std::pow((beam.length_offset + length) / (beam.length_offset + 1), beam.length_power);
    for (const double sum : tried.attended)
      tried.rank += beam.coverage_penalty * std::log(std::min(sum, 1.0));
  }
  std::sort(all.begin(), all.end(), [](const Tried& a, const Tried& b) { return a.rank > b.rank; });
  return all;
}

}  // namespace bahdanau::test
