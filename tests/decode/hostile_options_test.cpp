// Options of a search at the edges of their types: an error or a ranking that still is one.
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <bahdanau/bahdanau.hpp>

#include "support/backends.hpp"
#include "support/catch.hpp"
#include "support/message.hpp"
#include "support/sequences.hpp"

namespace bd = bahdanau;
using namespace bd::test;

TEST_CASE("a beam whose double width is beyond any number is refused", "[decode][beam][error]") {
  using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, bd::test::TestBackend<float>>;
  const Model model({.embed = 2, .hidden = 2, .layers = 1}, numbered(7, 7, 4));
  for (const std::size_t width : {std::size_t{65537}, std::size_t{1} << 63U, ~std::size_t{0}})
    CHECK(message_of([&] { model.translate("4 5", bd::Beam{.width = width}); }) ==
          "Beam.width: expected at most 65536, got " + std::to_string(width));
  CHECK(message_of([&] { model.translate("4 5", bd::Beam{.width = 65536, .max_length = 1}); }) ==
        "nothing was thrown");
}

TEST_CASE("a translation may be asked to be long, but not without an end", "[decode][beam][error]") {
  using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, bd::test::TestBackend<float>>;
  const Model model({.embed = 2, .hidden = 2, .layers = 1}, numbered(7, 7, 4));
  const std::string expected = "max_length: expected at most 65536 tokens, got 18446744073709551615";
  CHECK(message_of([&] { model.translate("4 5", bd::Beam{.max_length = ~std::size_t{0}}); }) == expected);
  CHECK(message_of([&] { model.translate("4 5", bd::Greedy{.max_length = ~std::size_t{0}}); }) == expected);
}

TEST_CASE("any number of threads may be asked for", "[decode][threads]") {
  using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, bd::test::TestBackend<float>>;
  const Model model({.embed = 2, .hidden = 2, .layers = 1}, numbered(7, 7, 4));
  const std::vector<std::string> sentences(20, "4 5");
  const std::string text = model.translate("4 5", bd::Greedy{.threads = 1}).text;
  // Four times the first is 0 in a size_t: no group of sentences was ever made of it, and no end.
  for (const std::size_t threads : {std::size_t{1} << 62U, (std::size_t{1} << 62U) + 1, ~std::size_t{0}}) {
    const auto all = model.translate(sentences, bd::Greedy{.threads = threads});
    REQUIRE(all.size() == sentences.size());
    CHECK(all.back().text == text);
  }
  const std::vector<std::string> many(3000, "4 5");
  CHECK(model.translate(many, bd::Greedy{.max_length = 2, .threads = std::size_t{1} << 20U}).size() == 3000);
}

TEST_CASE("hypotheses whose rank is no number come last", "[decode][beam]") {
  // A score of minus infinity, as weights that are no numbers give, over a length to a power beyond reason.
  bd::detail::SentenceBeam beam({.width = 2, .nbest = 2, .length_power = 1e308}, 10);
  const std::vector<bd::Index> eos{bd::reserved::eos};
  const std::vector<double> impossible{-std::numeric_limits<double>::infinity()}, possible{-1};
  beam.offer<double>(0, 0, eos, impossible);
  beam.advance(1);
  beam.offer<double>(0, 0, eos, possible);
  beam.advance(2);
  const auto found = beam.take();
  REQUIRE(found.size() == 2);
  CHECK(found.front().score == -1);
}
