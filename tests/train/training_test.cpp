#include <cmath>

#include <bahdanau/bahdanau.hpp>

#include "support/backends.hpp"
#include "support/catch.hpp"
#include "support/message.hpp"
#include "support/sequences.hpp"

namespace bd = bahdanau;
using namespace bd::test;

namespace {

template <class Backend>
using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, Backend>;

const bd::Batch& batch() {
  static const bd::Batch b{random_sequences(70, 9, 30, 1), random_sequences(70, 8, 33, 2)};
  return b;
}

template <class Backend>
std::vector<typename Backend::Scalar> all_weights(const Model<Backend>& model) {
  return bd::test::numbers_of(model.weights());
}

std::vector<float> trained(std::size_t threads, float dropout) {
  Model<bd::test::TestBackend<float>> model({.embed = 12, .hidden = 16, .layers = 2, .dropout = dropout},
                                            numbered(30, 33, 10), 5);
  bd::Training training(model, bd::Adam{.rate = 0.01}, {.clip = 1, .threads = threads, .seed = 3});
  for (int i = 0; i < 4; ++i) {
    training.loss(batch());
    training.backward();
    training.step();
  }
  return all_weights(model);
}

}  // namespace

TEMPLATE_TEST_CASE("the loss counts valid tokens and divides by max_length", "[train][loss]", TEST_BACKENDS) {
  Model<TestType> model({.embed = 5, .hidden = 6, .layers = 1}, numbered(30, 33, 10), 5);
  bd::Training training(model);
  const bd::Loss loss = training.loss(batch());
  std::size_t tokens = 0;
  for (const bd::Index length : batch().target.lengths) tokens += static_cast<std::size_t>(length);
  CHECK(loss.tokens == tokens);
  const auto log_probs = bd::log_probabilities(model.forward(batch()).logits, batch().target);
  double nats = 0;
  for (const double p : log_probs) nats -= p;
  CHECK(loss.nats == Approx(nats).epsilon(1e-5));
  CHECK(loss.sum == Approx(nats / 10).epsilon(1e-5));
  CHECK(loss.d2l() == Approx(nats / 10 / static_cast<double>(tokens)).epsilon(1e-5));
  CHECK(loss.nats_per_token() == Approx(nats / static_cast<double>(tokens)).epsilon(1e-5));
}

TEST_CASE("gradients of the whole model agree with central differences, dropout included",
          "[train][gradient]") {
  using Backend = bd::test::TestBackend<double>;
  bd::EncoderDecoder<bd::Lstm, bd::Additive, Backend, bd::Bidirectional> model(
      {.embed = 3, .hidden = 4, .layers = 2, .dropout = 0.3F}, numbered(8, 9, 6), 5);
  const bd::Batch b{random_sequences(3, 5, 8, 1), random_sequences(3, 4, 9, 2)};
  const auto loss = [&] {
    bd::Training training(model, bd::Adam{}, {.threads = 1, .seed = 4});  // the first batch's masks each time
    return training.loss(b).sum;
  };
  bd::Training training(model, bd::Adam{}, {.threads = 1, .seed = 4});
  training.loss(b);
  training.backward();
  for (const auto& entry : model.parameters().entries()) {
    INFO(entry.name);
    const std::vector<double> gradient = training.gradients().read(entry.parameter);
    std::vector<double> w = model.weights().read(entry.parameter);
    const auto loss_at = [&](std::size_t i, double value) {
      std::swap(w[i], value);
      model.weights().write(entry.parameter, w);
      std::swap(w[i], value);
      return loss();
    };
    double worst = 0, largest = 0;
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      const double step = 1e-5;
      const double difference = (loss_at(i, w[i] + step) - loss_at(i, w[i] - step)) / (2 * step);
      worst = std::max(worst, std::abs(difference - gradient[i]));
      largest = std::max(largest, std::abs(difference));
    }
    model.weights().write(entry.parameter, w);
    CHECK(largest > 0);
    CHECK(worst <= 1e-6 * std::max(largest, 1e-3));
  }
}

TEST_CASE("training gives the same bits for any number of threads", "[train][threads][bits]") {
  for (const float dropout : {0.0F, 0.2F}) {
    const std::vector<float> one = trained(1, dropout);
    CHECK(one == trained(1, dropout));
    for (const std::size_t threads : {2U, 3U, 8U}) CHECK(one == trained(threads, dropout));
  }
  CHECK(trained(1, 0.0F) != trained(1, 0.2F));
}

TEST_CASE("training gives the same bits whatever was in memory before", "[train][threads][bits]") {
  using M = Model<bd::test::TestBackend<float>>;
  const bd::Batch small{bd::test::random_sequences(50, 4, 30, 1), bd::test::random_sequences(50, 4, 33, 2)};
  const bd::Batch large{bd::test::random_sequences(90, 20, 30, 3), bd::test::random_sequences(90, 20, 33, 4)};
  // What a tape joins depends on where its arrays lie: a training that has seen a larger batch has more room.
  const auto weights = [&](bool seen_before, std::size_t junk) {
    M model({.embed = 12, .hidden = 48, .layers = 2}, numbered(30, 33, 20), 5);
    bd::Training training(model, bd::Adam{.rate = 0.01}, {.clip = 1});
    std::vector<std::vector<char>> between;
    if (seen_before) training.loss(large);
    for (const bd::Batch* b : {&small, &large, &small, &large}) {
      for (std::size_t i = 0; i < junk; ++i) between.emplace_back(10'000 * (i % 7 + 1));
      training.loss(*b);
      training.backward();
      training.step();
    }
    return all_weights(model);
  };
  const std::vector<float> expected = weights(false, 0);
  CHECK(weights(true, 0) == expected);
  CHECK(weights(false, 100) == expected);
}

TEMPLATE_TEST_CASE(
    "a validation anywhere, or a loss that nobody follows, changes no gradient", "[train][gradient][bits]",
    Model<bd::test::TestBackend<float>>,
    (bd::EncoderDecoder<bd::Lstm, bd::Additive, bd::test::TestBackend<float>, bd::Bidirectional>)) {
  // Wide enough for products of all kinds.
  TestType model({.embed = 12, .hidden = 130, .layers = 2}, numbered(30, 33, 10), 5);
  const bd::Batch other{random_sequences(90, 10, 30, 3), random_sequences(90, 10, 33, 4)};
  const auto gradients = [&](auto before, auto between, auto after) {
    bd::Training training(model, bd::Adam{}, {.clip = 1});
    before(training);
    training.loss(batch());
    between(training);
    training.backward();
    after(training);
    return bd::test::numbers_of(training.gradients());
  };
  const auto nothing = [](auto&) {};
  const auto validate = [&](auto& training) { training.evaluate(other); };
  const auto lose = [&](auto& training) { training.loss(other); };
  const auto train = [&](auto& training) {
    training.loss(other);
    training.backward();
  };
  const auto fail_once = [&](auto& training) {
    const bd::Batch wrong{random_sequences(70, 9, 31, 1), random_sequences(70, 8, 33, 2)};
    CHECK_THROWS_AS(training.loss(wrong), bd::Error);
  };
  const std::vector<float> expected = gradients(nothing, nothing, nothing);
  CHECK((gradients(validate, nothing, nothing) == expected));
  CHECK((gradients(nothing, validate, nothing) == expected));
  CHECK((gradients(nothing, nothing, validate) == expected));
  CHECK((gradients(lose, nothing, nothing) == expected));
  CHECK((gradients(train, nothing, nothing) == expected));
  CHECK((gradients(fail_once, nothing, nothing) == expected));
}

TEST_CASE("a shard that fails in the middle of a batch leaves nothing behind", "[train][error][bits]") {
  const auto padded = bd::FinalState::padded;
  Model<bd::test::TestBackend<float>> model({.embed = 12, .hidden = 48, .layers = 2, .final_state = padded},
                                            numbered(30, 33, 9), 5);
  const bd::Batch long_ones{random_sequences(70, 20, 30, 1), random_sequences(70, 8, 33, 2)};
  const auto gradients = [&](bool fail_before) {
    bd::Training training(model);
    if (fail_before) CHECK_THROWS_AS(training.loss(long_ones), bd::Error);
    training.loss(batch());
    training.backward();
    return bd::test::numbers_of(training.gradients());
  };
  CHECK((gradients(true) == gradients(false)));
}

TEST_CASE("dropout draws new masks for every batch and none without a rate", "[train][dropout]") {
  Model<bd::test::TestBackend<double>> model({.embed = 5, .hidden = 6, .layers = 2, .dropout = 0.5F},
                                             numbered(30, 33, 10), 5);
  bd::Training training(model, bd::Adam{}, {.seed = 1});
  const double first = training.loss(batch()).sum, second = training.loss(batch()).sum;
  CHECK(first != second);
  bd::Training again(model, bd::Adam{}, {.seed = 1}), other(model, bd::Adam{}, {.seed = 2});
  CHECK(again.loss(batch()).sum == first);
  CHECK(other.loss(batch()).sum != first);
}

TEST_CASE("clipping scales the gradient to the bound and leaves a small one alone", "[train][clip]") {
  CHECK(bd::clip_factor(4.0, 1.0) == 0.25);
  CHECK(bd::clip_factor(0.5, 1.0) == 1.0);
  CHECK(bd::clip_factor(4.0, 0.0) == 1.0);
}

TEST_CASE("the steps of training come in their order", "[train][error]") {
  Model<bd::test::TestBackend<float>> model({}, numbered(30, 33, 10));
  bd::Training training(model);
  CHECK(message_of([&] { training.backward(); }) ==
        "backward: expected a loss(batch) before it, got none since the last backward");
  CHECK(message_of([&] { training.step(); }) ==
        "step: expected a backward() before it, got none since the last loss or step");
}

TEST_CASE("a gradient that is not finite leaves the weights alone", "[train][error]") {
  Model<bd::test::TestBackend<float>> model({}, numbered(30, 33, 10));
  bd::test::set_number(model.weights(), 0, std::numeric_limits<float>::quiet_NaN());
  for (const auto& entry : model.parameters().entries())  // one token's embedding, which the batch uses
    if (entry.name == "decoder.embedding.weight")
      bd::test::set_number(model.weights(), entry.parameter.offset + 2 * entry.parameter.shape[1],
                           std::numeric_limits<float>::infinity());
  bd::Training training(model);
  training.loss(batch());
  training.backward();
  const std::vector<float> before = all_weights(model);
  CHECK(message_of([&] { training.step(); }).starts_with("step: expected a finite gradient, got "));
  const std::vector<float> after = all_weights(model);
  CHECK(std::equal(before.begin() + 16, before.end(),
                   after.begin() + 16));  // without the one that is no number
}
