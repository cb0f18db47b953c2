// What was written apart, used together: residual connections, masks per sentence and scheduled sampling with
// decoders that do not attend, that step twice, and with convolutions; ensembles of whoever attends or not.
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "family/laws.hpp"
#include "support/backends.hpp"
#include "support/catch.hpp"
#include "support/sequences.hpp"

namespace bd = bahdanau;
using namespace bd::test;

namespace {

using Plain = bd::EncoderDecoder<bd::Lstm, bd::NoScore, TestBackend<double>, bd::Plain>;
using Fixed = bd::EncoderDecoder<bd::Gru, bd::NoScore, TestBackend<double>, bd::FixedContext>;
using Twice = bd::EncoderDecoder<bd::Gru, bd::Coverage<bd::Additive>, TestBackend<double>,
                                 bd::Convolutional<2, 3>, bd::Conditional>;

bd::Config all_options() {
  bd::Config config;
  config.residual = true;
  config.dropout = 0.2F;
  config.embedding_dropout = 0.1F;
  config.dropout_masks = bd::DropoutMasks::per_sequence;
  return config;
}

/// The weights after some steps with scheduled sampling.
template <class Model>
std::vector<double> trained(double teacher, std::size_t threads) {
  bd::Config config = all_options();
  config.embed = 5;
  config.hidden = 6;
  config.layers = 3;
  Model model(config, small_vocabularies(), 7);
  bd::Training<Model> training(
      model, bd::Adam{.rate = 0.02},
      {.clip = 1,
       .threads = threads,
       .scheduled_sampling = {.decay = bd::ScheduledSampling::Decay::linear, .k = teacher}});
  const bd::Batch batch{random_sequences(70, 6, 9, 1), random_sequences(70, 6, 10, 2)};
  for (int step = 0; step < 3; ++step) {
    training.loss(batch);
    training.backward();
    training.step();
  }
  return model.weights().read();
}

template <class Model>
void check_sampling() {
  const auto taught = trained<Model>(1, 1), sampled = trained<Model>(0.5, 1);
  CHECK(sampled != taught);
  CHECK(largest_difference(trained<Model>(0.5, 3), sampled) <= 1e-9);
}

}  // namespace

TEST_CASE("a decoder that runs all steps at once has residual connections in each of them",
          "[family][residual]") {
  bd::Config config;
  config.residual = true;
  check_laws<Plain>(config, 3);
}

TEST_CASE("coverage, convolutions and two cells keep the laws with residual connections",
          "[family][residual]") {
  bd::Config config;
  config.residual = true;
  check_laws<Twice>(config, 3);
}

TEST_CASE("training with all kinds of dropout keeps its bits where nothing attends, or twice the cells do",
          "[family][bits]") {
  check_training_of<Plain>(all_options());
  check_training_of<Twice>(all_options());
}

TEST_CASE("scheduled sampling takes decoders that do not attend, and those that step twice", "[family]") {
  check_sampling<Plain>();
  check_sampling<Fixed>();
  check_sampling<Twice>();
}

TEST_CASE("an ensemble shows the attention of those that attend, wherever they stand", "[family][ensemble]") {
  bd::Config config{.embed = 5, .hidden = 6, .layers = 1};
  auto reversed = small_vocabularies();
  reversed.text.reverse_source = true;  // a model's own matter
  const auto plain = Plain(config, reversed, 1).freeze();
  const auto twice = Twice(config, small_vocabularies(), 2).freeze();
  const std::string sentence = "6 7 8 4 5";
  for (const bool first : {false, true}) {
    const bd::Ensemble both = first ? bd::Ensemble(plain, twice) : bd::Ensemble(twice, plain);
    const auto found = both.translate(sentence, bd::Beam{.width = 3, .max_length = 6});
    CHECK(found.attention.shape(1) == 6);
    const auto scored = score_pairs(both, std::vector<bd::SentencePair>{{sentence, "4 5 6"}}).front();
    const auto alone = score_pairs(twice, std::vector<bd::SentencePair>{{sentence, "4 5 6"}}).front();
    REQUIRE(scored.attention.shape() == alone.attention.shape());
    CHECK(largest_difference(scored.attention, alone.attention) == 0);
  }
}
