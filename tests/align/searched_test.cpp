// Alignments of whatever a search gives: greedily, by a beam, or of the same text when it is given.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <bahdanau/align/from_attention.hpp>
#include <bahdanau/align/pharaoh.hpp>
#include <bahdanau/bahdanau.hpp>

#include "support/backends.hpp"
#include "support/catch.hpp"
#include "support/sequences.hpp"

namespace bd = bahdanau;
using namespace bd::test;

namespace {

using Model = bd::EncoderDecoder<bd::Gru, bd::Additive, TestBackend<float>>;

/// A model over the words "4" to "19" that attends to one word more than to others.
Model toy(std::uint64_t seed) {
  bd::Vocabularies v = numbered(20, 20, 8);
  v.text.tokens = bd::Tokens::none;
  Model model({.embed = 8, .hidden = 12, .layers = 1}, v, seed);
  for (const auto& entry : model.parameters().entries()) {
    auto numbers = model.weights().read(entry.parameter);
    for (auto& number : numbers) number *= 2;
    model.weights().write(entry.parameter, numbers);
  }
  return model;
}

const std::vector<std::string> sentences{"4 5 6", "7 19", "8 9 10 11 4 5", "6 12 6", "13 14 15 16 17"};

/// Whether the text gives the same tokens again.
bool can_be_given(const bd::Translation& translation) {
  const auto words = bd::detail::words_in(translation.target);
  return words > 0 && std::none_of(translation.target.begin(),
                                   translation.target.begin() + static_cast<std::ptrdiff_t>(words),
                                   [](const std::string& token) { return token.starts_with('<'); });
}

/// The links of the same text by forced decoding.
bd::Alignment forced(const Model& model, const std::string& source, const bd::Translation& translation) {
  const std::vector<bd::SentencePair> pairs{{source, translation.text}};
  return bd::argmax_alignment(bd::score_pairs(model, pairs).front());
}

}  // namespace

TEST_CASE("greedy search, a beam of one and forced decoding align the same text alike", "[align][search]") {
  std::size_t compared = 0;
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U}) {
    const Model model = toy(seed);
    const auto greedy = model.translate(sentences), narrow = model.translate(sentences, bd::Beam{.width = 1});
    for (std::size_t i = 0; i < sentences.size(); ++i) {
      const bd::Alignment links = bd::argmax_alignment(greedy[i]);
      // A beam may also end with what greedy search goes on from.
      if (!can_be_given(greedy[i]) || narrow[i].target != greedy[i].target) continue;
      CHECK(links == bd::argmax_alignment(narrow[i]));
      CHECK(bd::threshold_alignment(greedy[i], 0.2) == bd::threshold_alignment(narrow[i], 0.2));
      CHECK(links == forced(model, sentences[i], greedy[i]));
      CHECK(links.size() == bd::detail::words_in(greedy[i].target));
      ++compared;
    }
  }
  CHECK(compared >= 8);
}

TEST_CASE("each translation of a beam is aligned as when it is given", "[align][search][beam]") {
  std::size_t compared = 0, differ = 0;
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U}) {
    const Model model = toy(seed);
    const auto found = bd::translate_nbest(model, sentences, bd::Beam{.width = 3, .nbest = 3});
    for (std::size_t i = 0; i < sentences.size(); ++i)
      for (const bd::Translation& translation : found[i]) {
        if (!can_be_given(translation)) continue;
        const bd::Alignment links = bd::argmax_alignment(translation);
        CHECK(links == forced(model, sentences[i], translation));
        differ += links == bd::argmax_alignment(found[i].front()) ? 0 : 1;
        ++compared;
      }
  }
  CHECK(compared >= 16);
  CHECK(differ > 0);  // rows of other hypotheses would have been seen
}
