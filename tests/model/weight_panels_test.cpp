// Packed weights follow the weights: whoever changes them, and however.
#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <bahdanau/bahdanau.hpp>

#include "support/catch.hpp"
#include "support/message.hpp"
#include "support/sequences.hpp"
#include "support/temporary_directory.hpp"

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
  SECTION("in place, all of them") {
    const std::vector<float> numbers = model(2).weights().read();
    a.weights().change([&](std::span<float> all) { std::copy(numbers.begin(), numbers.end(), all.begin()); });
  }
  SECTION("in place, parameter by parameter, after a move and a load") {
    Model moved = std::move(a);
    CHECK(score(moved) == before);
    const bd::test::TemporaryDirectory folder;
    model(3).save(folder.path() / "other.safetensors");
    moved.load_weights(folder.path() / "other.safetensors");
    CHECK(score(moved) == score(model(3)));
    const Model b = model(2);
    for (const auto& entry : b.parameters().entries())
      moved.weights().change(entry.parameter, [&](std::span<float> some) {
        const std::vector<float> numbers = b.weights().read(entry.parameter);
        REQUIRE(some.size() == numbers.size());
        std::copy(numbers.begin(), numbers.end(), some.begin());
      });
    a = std::move(moved);
  }
  SECTION("by assigning another model") { a = model(2); }
  SECTION("by moving another model in") {
    Model b = model(2);
    score(b);
    a = std::move(b);
  }
  CHECK(score(a) == other);
}

// A pointer to the numbers would outlive a move, `load_weights` and the packed forms of the weights.
template <class Block>
concept HandsOutPointers = requires(Block& block) {
  block.data();
}
|| requires(Block& block) {
  { block.change() } -> std::convertible_to<const float*>;
};
static_assert(!HandsOutPointers<bd::ParameterBlock<bd::Xtensor<float>>>);
static_assert(!HandsOutPointers<const bd::ParameterBlock<bd::Xtensor<float>>>);

TEST_CASE("a parameter of a larger model is refused", "[model][error]") {
  Model a = model(1);
  const Model larger({.embed = 8, .hidden = 16, .layers = 2}, bd::test::numbered(20, 20, 9), 1);
  const bd::Parameter p = larger.parameters().entries().back().parameter;
  const std::vector<float> numbers(p.shape.size(), 7);
  for (const auto& use : std::vector<std::function<void()>>{
           [&] { (void)a.weights().read(p); }, [&] { a.weights().write(p, numbers); },
           [&] { a.weights().change(p, [](std::span<float>) {}); }})
    CHECK_THAT(bd::test::message_of(use),
               Catch::Matchers::StartsWith("ParameterBlock: expected a parameter of this block, which has "));
}

TEST_CASE("what is derived from weights while they change is not kept", "[model][panels]") {
  Model a = model(1);
  const std::vector<float> numbers = model(2).weights().read();
  const auto change = [&](std::span<float> all) {
    all[0] += 1;
    score(a);  // packs weights that are on their way
    std::copy(numbers.begin(), numbers.end(), all.begin());
  };
  SECTION("by a function that returns") { a.weights().change(change); }
  SECTION("by one that throws") {
    CHECK_THROWS_AS(a.weights().change([&](std::span<float> all) {
      change(all);
      throw 1;
    }),
                    int);
  }
  CHECK(score(a) == score(model(2)));
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
