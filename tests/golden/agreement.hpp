// The comparison of one model with what PyTorch recorded for it: the same for every combination of policies.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <string>
#include <vector>

#include <bahdanau/bahdanau.hpp>

#include "support/catch.hpp"
#include "support/golden.hpp"
#include "support/sequences.hpp"

namespace golden {

using namespace bahdanau::test;

struct Difference {
  double largest = 0;    // between entries
  double magnitude = 0;  // of the expected entries
  double relative() const { return magnitude == 0 ? largest : largest / magnitude; }
};

template <class Numbers>
Difference difference(const Numbers& got, const bahdanau::SafetensorsFile& file, const std::string& name) {
  const std::vector<double> expected = file.read<double>(name);
  REQUIRE(static_cast<std::size_t>(got.size()) == expected.size());
  Difference d;
  std::size_t i = 0;
  for (const auto entry : got) {
    d.largest = std::max(d.largest, std::abs(static_cast<double>(entry) - expected[i]));
    d.magnitude = std::max(d.magnitude, std::abs(expected[i++]));
  }
  return d;
}

/// What agreement means; `weights` is for the parameters after five steps of Adam.
template <class Scalar>
struct Tolerance {
  static constexpr bool is_float = std::same_as<Scalar, float>;
  static constexpr double outputs = is_float ? 1e-5 : 1e-12;    // absolute
  static constexpr double gradients = is_float ? 1e-4 : 1e-10;  // of the largest entry
  static constexpr double weights = is_float ? 1e-5 : 1e-10;    // absolute
};

template <class Model>
void check_outputs(const Model& model, const bahdanau::Batch& batch,
                   const bahdanau::SafetensorsFile& expected) {
  using Limit = Tolerance<typename Model::Scalar>;
  const auto out = model.forward(batch);
  CHECK(difference(model.encode(batch.source).outputs(), expected, "encoder_outputs").largest <=
        Limit::outputs);
  CHECK(difference(out.logits, expected, "logits").largest <= Limit::outputs);
  if constexpr (std::same_as<typename Model::Score, bahdanau::NoScore>)
    CHECK(out.attention.shape(2) == 0);
  else
    CHECK(difference(out.attention, expected, "attention").largest <= Limit::outputs);
  const auto log_probs = bahdanau::log_probabilities(out.logits, batch.target);
  CHECK(difference(log_probs, expected, "log_probs").largest <= Limit::outputs);
}

/// Five steps on the same batch: loss and gradients of the first, weights after the last.
template <class Model>
void check_training(Model& model, const bahdanau::Batch& batch, const bahdanau::SafetensorsFile& expected) {
  using Limit = Tolerance<typename Model::Scalar>;
  bahdanau::Training<Model> training(model, bahdanau::Adam{.rate = 0.005}, {.clip = 1, .checked = true});
  for (int step = 0; step < 5; ++step) {
    const bahdanau::Loss loss = training.loss(batch);
    training.backward();
    if (step == 0) {
      CHECK(difference(std::vector<double>{loss.sum}, expected, "loss").relative() <= Limit::outputs);
      for (const auto& entry : model.parameters().entries()) {
        INFO("gradient of " << entry.name);
        CHECK(difference(training.gradients().read(entry.parameter), expected, "gradient." + entry.name)
                  .relative() <= Limit::gradients);
      }
    }
    const double norm = training.step();
    if (step == 0)
      CHECK(difference(std::vector<double>{norm}, expected, "grad_norm").relative() <= Limit::gradients);
  }
  for (const auto& entry : model.parameters().entries()) {
    INFO(entry.name << " after five steps");
    CHECK(difference(model.weights().read(entry.parameter), expected, "after_five." + entry.name).largest <=
          Limit::weights);
  }
}

/// One recorded case.
template <class Model>
void check_case(const std::string& name) {
  INFO(name);
  Model model = Model::load(golden_path(name + ".model.safetensors"));
  const auto expected = bahdanau::SafetensorsFile::open(golden_path(name + ".expected.safetensors"));
  const bahdanau::Batch batch = golden_batch(expected);
  check_outputs(model, batch, expected);
  check_training(model, batch, expected);
}

/// All recorded cases of one combination of d2l's policies: 1 and 3 layers, both rules for the final state.
template <class Model>
void check_agreement(const std::string& combination) {
  for (const std::string layers : {"l1", "l3"})
    for (const std::string rule : {"valid", "padded"})
      check_case<Model>(combination + "_" + layers + "_" + rule);
}

/// The same of other policies: 1 and 3 layers.
template <class Model>
void check_family(const std::string& combination) {
  for (const std::string layers : {"l1", "l3"}) check_case<Model>(combination + "_" + layers);
}

}  // namespace golden
