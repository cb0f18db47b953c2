// CPU and Thrust give the same numbers, dropout masks included, and exchange models.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <bahdanau/backend/thrust.hpp>
#include <bahdanau/bahdanau.hpp>

#include "support/backends.hpp"
#include "support/catch.hpp"
#include "support/golden.hpp"
#include "support/sequences.hpp"
#include "support/temporary_directory.hpp"

namespace {

namespace bd = bahdanau;
using namespace bd::test;

template <class Cell, class Score, class Encoder, class Backend>
using Model = bd::EncoderDecoder<Cell, Score, Backend, Encoder>;

double furthest(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    largest = std::max(
        largest, std::isnan(a[i]) || std::isnan(b[i]) ? HUGE_VAL : std::abs(double{a[i]} - double{b[i]}));
  return largest;
}

/// A golden model with dropout, two steps of training: losses, first gradients, and the weights after.
template <class M>
struct Run {
  std::vector<float> losses, gradients, weights;

  Run(const bd::Batch& batch, const std::string& path) {
    bd::Config config = M::load(path).config();
    config.dropout = 0.3F;
    M model(config, M::load(path).vocabularies());
    model.load_weights(path);
    // Adam divides by a gradient's size: an epsilon far above the gradients' rounding, or a gradient that
    // dropout leaves near zero would give either sign to a whole step.
    bd::Training<M> training(model, bd::Adam{.rate = 0.05, .epsilon = 1e-2}, {.clip = 1, .seed = 11});
    for (int step = 0; step < 2; ++step) {
      losses.push_back(static_cast<float>(training.loss(batch).d2l()));
      training.backward();
      if (step == 0) gradients = numbers_of(training.gradients());
      training.step();
    }
    weights = numbers_of(std::as_const(model).weights());
  }
};

template <class Cell, class Score, class Encoder>
void compare(const std::string& name) {
  for (const std::string rest : {"_l1_valid", "_l3_valid", "_l1_padded", "_l3_padded"}) {
    INFO(name + rest);
    const auto expected = bd::SafetensorsFile::open(golden_path(name + rest + ".expected.safetensors"));
    const std::string path = golden_path(name + rest + ".model.safetensors");
    const bd::Batch batch = golden_batch(expected);
    const Run<Model<Cell, Score, Encoder, bd::Xtensor<float>>> cpu(batch, path);
    const Run<Model<Cell, Score, Encoder, bd::Thrust<float>>> device(batch, path);
    CHECK(furthest(cpu.losses, device.losses) < 1e-5);
    CHECK(furthest(cpu.gradients, device.gradients) < 1e-5);
    CHECK(furthest(cpu.weights, device.weights) < 1e-5);
  }
}

}  // namespace

TEST_CASE("CPU and Thrust agree on the golden cases with dropout", "[thrust][golden]") {
  compare<bd::Gru, bd::Additive, bd::Unidirectional>("gru_additive_uni");
  compare<bd::Gru, bd::Additive, bd::Bidirectional>("gru_additive_bi");
  compare<bd::Lstm, bd::Additive, bd::Unidirectional>("lstm_additive_uni");
  compare<bd::Lstm, bd::Additive, bd::Bidirectional>("lstm_additive_bi");
  compare<bd::Gru, bd::ScaledDot, bd::Unidirectional>("gru_scaled_dot_uni");
  compare<bd::Lstm, bd::ScaledDot, bd::Unidirectional>("lstm_scaled_dot_uni");
}

TEST_CASE("a model trained on one backend loads and translates on the other", "[thrust][io]") {
  using Host = bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Xtensor<float>>;
  using Device = bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Thrust<float>>;
  const TemporaryDirectory directory;
  const bd::Batch batch{random_sequences(20, 6, 12, 1), random_sequences(20, 6, 14, 2)};
  const auto there_and_back = [&]<class From, class To>(From*, To*) {
    From trained({.embed = 8, .hidden = 12, .layers = 2}, numbered(12, 14, 6), 4);
    bd::Training<From> training(trained, bd::Adam{.rate = 0.01});
    for (int step = 0; step < 30; ++step) {
      training.loss(batch);
      training.backward();
      training.step();
    }
    const auto path = directory.path() / "model.safetensors";
    trained.save(path);
    const To loaded = To::load(path);
    CHECK(numbers_of(loaded.weights()) == numbers_of(std::as_const(trained).weights()));
    for (const std::string sentence : {"4 5 6", "7", "10 11 4 4 5"}) {
      const bd::Translation a = trained.translate(sentence), b = loaded.translate(sentence);
      CHECK(a.text == b.text);
      CHECK(a.score == Approx(b.score).margin(1e-4));
    }
  };
  there_and_back(static_cast<Host*>(nullptr), static_cast<Device*>(nullptr));
  there_and_back(static_cast<Device*>(nullptr), static_cast<Host*>(nullptr));
}
