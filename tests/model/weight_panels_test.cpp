// Packed weights follow the weights: whoever changes them, and however.
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <bahdanau/bahdanau.hpp>

#include "support/catch.hpp"
#include "support/sequences.hpp"

namespace {

namespace bd = bahdanau;
using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, bd::Xtensor<float>>;

Model model(std::uint64_t seed) {
  return Model({.embed = 8, .hidden = 12, .layers = 2}, bd::test::numbered(20, 20, 9), seed);
}
double score(const Model& m) { return m.translate("4 5 6 7").score; }

}  // namespace

TEST_CASE("a model notices when its weights change", "[model][panels]") {
  Model a = model(1);
  const double before = score(a), other = score(model(2));
  REQUIRE(before != other);
  SECTION("by assigning a whole block") {
    const Model b = model(2);
    a.weights() = b.weights();
  }
  SECTION("by writing single parameters") {
    const Model b = model(2);
    for (const auto& entry : b.parameters().entries())
      a.weights().write(entry.parameter, b.weights().read(entry.parameter));
  }
  SECTION("through a pointer that was kept") {
    const Model b = model(2);
    float* kept = a.weights().data();
    CHECK(score(a) == before);
    std::copy_n(b.weights().data(), b.weights().size(), kept);
  }
  SECTION("by assigning another model") { a = model(2); }
  SECTION("by moving another model in") {
    Model b = model(2);
    score(b);
    a = std::move(b);
  }
  CHECK(score(a) == other);
}

TEST_CASE("a copy of a model has its own packed weights", "[model][panels]") {
  Model a = model(1);
  const double before = score(a);
  Model b = a;
  b.weights().clear();
  CHECK(score(b) != before);
  CHECK(score(a) == before);
}

TEST_CASE("what was kept of earlier tokens does not change a bit", "[model][panels][decode]") {
  const Model warm = model(1);
  const std::vector<std::string> sentences = {"4 5 6 7", "19 4", "7 7 7 8 9 10", "11", "4 5 6 7"};
  for (const std::string& sentence : sentences) warm.translate(sentence, bd::Beam{.width = 4});
  for (const std::string& sentence : sentences) {
    const Model cold = model(1);
    CHECK(warm.translate(sentence).score == cold.translate(sentence).score);
    CHECK(warm.translate(sentence, bd::Beam{.width = 3}).score ==
          cold.translate(sentence, bd::Beam{.width = 3}).score);
  }
}

TEST_CASE("a model whose products would be too many to keep translates too", "[model][panels][decode]") {
  // 70,000 tokens of 3 · 80 numbers are more than are kept
  const Model large({.embed = 2, .hidden = 80, .layers = 1}, bd::test::numbered(20, 70'000, 9), 1);
  const auto once = large.translate("4 5 6 7"), again = large.translate("4 5 6 7");
  CHECK(once.score == again.score);
  CHECK(std::isfinite(once.score));
}
