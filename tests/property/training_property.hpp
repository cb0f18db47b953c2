// What must hold for a batch of any shape and any number of threads, and how many cases are tried.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <rapidcheck.h>

#include <bahdanau/train/training.hpp>

#include "property/random_case.hpp"
#include "support/backends.hpp"
#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/sequences.hpp"
#include "support/watched.hpp"

namespace bahdanau::test {

// Each property returns what is wrong, or nothing.

template <class Model>
Model random_model(const RandomCase& c, float dropout) {
  return Model(c.config(dropout), numbered(4 + c.source_words, 4 + c.target_words, c.max_length()), c.seed);
}

/// The gradient of a batch is the sum over its rows taken alone: within 1e-12 of its largest entry.
template <class Model>
std::string gradient_is_the_sum_of_rows(const RandomCase& c) {
  Model model = random_model<Model>(c, 0);
  const Batch batch = c.batch(0);
  const StepOptions options{.threads = 1, .label_smoothing = c.smoothing, .checked = true};
  StepOptions of_batch = options;
  of_batch.replicas = c.replicas;
  Training together(model, Adam{}, of_batch), alone(model, Adam{}, options);
  std::vector<double> whole(model.parameters().size()), rows(whole.size());
  const auto add_gradient = [](auto& training, const Batch& of, double times, std::vector<double>& sum) {
    training.loss(of);
    training.backward();
    const double* gradient = detail::numbers(training.gradients());
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += times * gradient[i];
  };
  add_gradient(together, batch, 1, whole);
  // Rows that are alike, as many short ones are, have one gradient.
  std::map<std::pair<std::vector<Token>, std::vector<Token>>, std::size_t> pairs;
  for (std::size_t r = 0; r < c.rows; ++r)
    ++pairs[{row_tokens(batch.source, r), row_tokens(batch.target, r)}];
  for (const auto& [pair, times] : pairs)
    add_gradient(alone, {Sequences::from_rows({&pair.first, 1}), Sequences::from_rows({&pair.second, 1})},
                 static_cast<double>(times), rows);
  double largest = 0;
  for (const double x : rows) largest = std::max(largest, std::abs(x));
  const double error = largest_difference(whole, rows);
  if (error <= 1e-12 * largest) return "";
  std::ostringstream text;
  text << "the gradient differs from the sum over rows by " << error / largest << " of its largest entry";
  return text.str();
}

/// Trainings with dropout end with equal bits for 1, 2, 3 and 8 threads, of which no two write to the same
/// memory at once.
template <class Model>
std::string threads_change_no_bit(const RandomCase& c) {
  const Model first = random_model<Model>(c, c.dropout);
  const std::array batches{c.batch(0), c.batch(1), c.batch(2)};
  const auto trained = [&](std::size_t threads) {
    Model model = first;
    Training training(model, Adam{.rate = 0.01},
                      {.clip = 1,
                       .threads = threads,
                       .seed = c.seed,
                       .label_smoothing = c.smoothing,
                       .scheduled_sampling = {.decay = ScheduledSampling::Decay::linear, .k = c.teacher},
                       .replicas = c.replicas});
    for (const Batch& batch : batches) {
      training.loss(batch);
      training.backward();
      training.step();
    }
    return numbers_of(std::as_const(model).weights());
  };
  WatchedWrites::clear();
  const std::vector<double> one = trained(1);
  for (const std::size_t threads : {2U, 3U, 8U}) {
    // Now and then long enough for any two pieces of work to meet.
    WatchedWrites::pause = std::chrono::microseconds(threads == 2 && c.seed % 8 == 0 ? 1 : 0);
    const bool equal = trained(threads) == one;
    WatchedWrites::pause = {};
    const std::string by = " by " + std::to_string(threads) + " threads";
    if (WatchedWrites::clashes > 0) return "two threads wrote to the same memory at once" + by;
    if (!equal) return "other weights" + by + " than by one";
  }
  return "";
}

/// Tries `property` on random cases: `share` of the 1250 of every run, or of those that
/// BAHDANAU_PROPERTY_CASES asks for; the shares of all tests add up to 1. Prints the smallest case that fails
/// and how to try it again, and the first one, as what threads do to one another may not happen twice.
template <class Property>
void try_cases(const std::string& name, double share, std::size_t models, Property property) {
  const char* asked = std::getenv("BAHDANAU_PROPERTY_CASES");
  rc::detail::TestParams params = rc::detail::configuration().testParams;
  const double cases = asked != nullptr ? std::atof(asked) : 1250;
  REQUIRE(cases >= 1);  // a word that is no number would try nothing
  params.maxSuccess = std::max(1, static_cast<int>(cases * share));
  rc::detail::TestMetadata metadata;
  metadata.id = metadata.description = name;
  std::ostringstream first;
  const auto one = [&] {
    const RandomCase c = *random_cases(models);
    const std::string wrong = property(c);
    if (!wrong.empty() && first.tellp() == 0) first << c << ": " << wrong;
    return wrong;
  };
  const auto result = rc::detail::checkTestable(one, metadata, params);
  std::ostringstream text;
  rc::detail::printResultMessage(result, text);
  INFO(text.str() << "\nThe first: " << first.str()
                  << "\nThe same cases again: RC_PARAMS='seed=" << params.seed << "'");
  CHECK(result.template is<rc::detail::SuccessResult>());
}

/// A model, and the cases that it is tried on: those that are drawn, without what it has no choice of.
template <class M>
struct Drawn {
  using Model = M;
  static RandomCase fitted(RandomCase c) {
    c.bridge = Bridge::both;
    c.tied = false;
    return c;
  }
};

/// Tries both properties on models, each of which a case may draw.
template <class... Ms>
void try_models(const std::string& name, double share) {
  const auto wrong_with = [](const RandomCase& c) {
    std::string wrong;
    std::size_t number = 0;
    const auto both = [&]<class M>() {
      if (number++ != c.model) return;
      const RandomCase fitted = M::fitted(c);
      wrong = gradient_is_the_sum_of_rows<typename M::Model>(fitted);
      if (wrong.empty()) wrong = threads_change_no_bit<typename M::Model>(fitted);
    };
    (both.template operator()<Ms>(), ...);
    return wrong;
  };
  try_cases(name, share, sizeof...(Ms), wrong_with);
}

/// Tries them on d2l's models with a cell.
template <class Cell>
void try_models_with(const std::string& name, double share) {
  using B = Watched<double>;
  try_models<Drawn<EncoderDecoder<Cell, Additive, B>>, Drawn<EncoderDecoder<Cell, ScaledDot, B>>,
             Drawn<EncoderDecoder<Cell, Additive, B, Bidirectional>>>(name, share);
}

}  // namespace bahdanau::test
