// Parameters that a training leaves as they are.
#include <string>
#include <vector>

#include <bahdanau/bahdanau.hpp>

#include "support/catch.hpp"
#include "support/message.hpp"
#include "support/sequences.hpp"
#include "support/temporary_directory.hpp"

using namespace bahdanau::test;
namespace bd = bahdanau;

namespace {

using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Xtensor<double>>;

Model small_model() { return Model({.embed = 3, .hidden = 4, .layers = 2}, numbered(7, 8, 5), 1); }

/// Trains two batches; says which parameters are as before.
template <class Optimizer>
std::vector<std::string> unchanged(Optimizer optimizer, std::vector<std::string> fixed,
                                   double* norm = nullptr) {
  Model model = small_model();
  const Model before = model;
  bd::Training training(model, optimizer, {.clip = 1, .fixed = std::move(fixed)});
  for (std::uint64_t i = 0; i < 2; ++i) {
    training.loss({random_sequences(6, 5, 7, i), random_sequences(6, 5, 8, i + 10)});
    training.backward();
    const double n = training.step();
    if (norm != nullptr) *norm = n;
  }
  std::vector<std::string> names;
  for (const auto& entry : model.parameters().entries())
    if (model.weights().read(entry.parameter) == before.weights().read(entry.parameter))
      names.push_back(entry.name);
  return names;
}

}  // namespace

TEST_CASE("fixed parameters stay as they are, whatever the optimizer, and the others move",
          "[training][fixed]") {
  using Names = std::vector<std::string>;
  const Names wanted{"encoder.embedding.weight", "decoder.embedding.weight"};
  CHECK(unchanged(bd::Adam{}, {"*.embedding.weight"}) == wanted);
  CHECK(unchanged(bd::AdamW{.decay = 0.1}, {"*.embedding.weight"}) == wanted);
  CHECK(unchanged(bd::Sgd{.momentum = 0.9}, wanted) == wanted);
  CHECK(unchanged(bd::Adadelta{}, wanted) == wanted);
  CHECK(unchanged(bd::Adam{}, {}).empty());
  // They have no part in the norm by which gradients are clipped.
  double all = 0, some = 0;
  unchanged(bd::Sgd{.rate = 1e-9}, {}, &all);
  unchanged(bd::Sgd{.rate = 1e-9}, {"decoder.*"}, &some);
  CHECK(some < 0.9 * all);
  CHECK(some > 0);
}

TEST_CASE("patterns that no parameter fits are refused, and such that all do", "[training][fixed][error]") {
  CHECK(message_of([] { unchanged(bd::Adam{}, {"encoder.embeding.weight"}); }) ==
        "fixed: expected the name of a parameter, or a pattern with * that some have, got "
        "\"encoder.embeding.weight\"; the model's are from encoder.embedding.weight to decoder.dense.bias");
  CHECK(message_of([] {
          unchanged(bd::Adam{}, {"encoder*", "decoder*"});
        }) == "fixed: expected parameters that are left to train, got patterns that all of them fit");
  using bd::detail::fits_pattern;
  static_assert(fits_pattern("a.b.c", "a*c") && fits_pattern("a.b.c", "*") && fits_pattern("abab", "*ab"));
  static_assert(!fits_pattern("a.b", "a*c") && !fits_pattern("ab", "b*") && fits_pattern("", "*"));
}

TEST_CASE("a checkpoint is resumed with the same fixed parameters", "[training][fixed][checkpoint]") {
  const TemporaryDirectory files;
  const std::vector<bd::SentencePair> pairs{{"go .", "va !"}, {"i lost .", "j'ai perdu ."}};
  const auto corpus = bd::Corpus::from_pairs(pairs, {.min_frequency = 1});
  const auto fit = [&](std::size_t epochs, std::vector<std::string> fixed) {
    Model model({.embed = 3, .hidden = 4, .layers = 1}, corpus.vocabularies(), 1);
    bd::Trainer(model, bd::Adam{},
                {.epochs = epochs,
                 .progress = bd::Progress::silent,
                 .checkpoint = files / "c",
                 .resume = true,
                 .fixed = std::move(fixed)})
        .fit(corpus);
  };
  fit(1, {"encoder.*"});
  fit(2, {"encoder.*"});
  CHECK_THAT(message_of([&] { fit(3, {}); }), Catch::Matchers::ContainsSubstring("fixed"));
}
