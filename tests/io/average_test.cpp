// Averages of model files: each number is the mean, and files of different models are refused.
#include <filesystem>
#include <string>
#include <vector>

#include <bahdanau/bahdanau.hpp>

#include "support/backends.hpp"
#include "support/catch.hpp"
#include "support/file_bytes.hpp"
#include "support/message.hpp"
#include "support/sequences.hpp"
#include "support/temporary_directory.hpp"

namespace bd = bahdanau;
using namespace bd::test;

namespace {

template <class T>
using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, TestBackend<T>>;
using Paths = std::vector<std::filesystem::path>;

const bd::Config sizes{.embed = 3, .hidden = 4, .layers = 2};

}  // namespace

TEMPLATE_TEST_CASE("a mean of models has the mean of their weights", "[io][average]", float, double) {
  const TemporaryDirectory files;
  const Paths paths{files / "a", files / "b", files / "c"};
  std::vector<Model<TestType>> models;
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    models.emplace_back(sizes, numbered(9, 8, 5), seed);
    models.back().save(paths[seed]);
  }
  bd::average_weights(paths, files / "mean");
  const auto mean = Model<TestType>::load(files / "mean");
  CHECK(mean.config() == sizes);
  CHECK(mean.vocabularies() == models[0].vocabularies());
  const auto numbers = mean.weights().read();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    double sum = 0;
    for (const auto& model : models) sum += static_cast<double>(model.weights().read()[i]);
    REQUIRE(numbers[i] == static_cast<TestType>(sum / 3));
  }
  // Of one, and of one with itself, it is the one, to the byte; and it may take the place of one.
  bd::average_weights(Paths{paths[0]}, files / "one");
  CHECK(contents(files / "one") == contents(paths[0]));
  bd::average_weights(Paths{paths[1], paths[1]}, paths[1]);
  CHECK(Model<TestType>::load(paths[1]).weights().read() == models[1].weights().read());
}

TEST_CASE("files that are not of one model have no mean", "[io][average][error]") {
  const TemporaryDirectory files;
  const Model<float> first(sizes, numbered(9, 8, 5), 1);
  first.save(files / "a");
  const auto message = [&](const auto& other) {
    other.save(files / "b");
    return message_of([&] { bd::average_weights(Paths{files / "a", files / "b"}, files / "mean"); });
  };
  const std::string b = (files / "b").string() + ": expected ";
  CHECK(message(bd::EncoderDecoder<bd::Lstm, bd::Additive, TestBackend<float>>(
            sizes, numbered(9, 8, 5), 1)) == b + "cell \"gru\", as the first file has, got \"lstm\"");
  bd::Config other = sizes;
  other.hidden = 5;
  CHECK(message(Model<float>(other, numbered(9, 8, 5), 1)) ==
        b + "the sizes and choices of the first file, got others");
  CHECK(message(Model<float>(sizes, numbered(9, 9, 5), 1)) ==
        b + "the vocabularies and text settings of the first file, got others");
  CHECK(message_of([&] { bd::average_weights(Paths{}, files / "mean"); }) ==
        "average_weights: expected at least one model file, got none");
  bd::SafetensorsWriter weights;
  weights.add("w", {1}, std::vector<float>{1});
  weights.write(files / "b");
  CHECK_THAT(message_of([&] { bd::average_weights(Paths{files / "b"}, files / "mean"); }),
             Catch::Matchers::ContainsSubstring("expected metadata"));
  CHECK_FALSE(std::filesystem::exists(files / "mean"));
}
