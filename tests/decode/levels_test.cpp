// A translation has the same bits with AVX2 and with AVX-512: sums have the same order at both, and what is
// fused is named.
#include "support/levels.hpp"

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <bahdanau/bahdanau.hpp>

#include "support/catch.hpp"
#include "support/sequences.hpp"

namespace bd = bahdanau;

namespace {

template <class Cell, class Score>
void check_levels(std::size_t embed, std::size_t hidden) {
  const bd::EncoderDecoder<Cell, Score, bd::Xtensor<float>> model(
      {.embed = embed, .hidden = hidden, .layers = 2}, bd::test::numbered(61, 523, 12), 5);
  std::vector<std::string> sentences;
  const bd::random::Key key{4};
  for (std::uint64_t i = 0; i < 9; ++i) {
    std::string sentence;
    for (std::uint64_t word = 0; word <= 2 * i; ++word)
      sentence += std::to_string(4 + key.derive(i).bits(word) % 57) + " ";
    sentences.push_back(sentence);
  }
  const auto translated = [&](bd::Instructions level) {
    const bd::test::AtLevel at(level);
    auto all = model.translate(sentences);
    for (auto& one : model.translate(sentences, bd::Beam{.width = 3})) all.push_back(one);
    all.push_back(model.translate(sentences[4]));  // alone
    return all;
  };
  const auto narrow = translated(bd::Instructions::avx2), wide = translated(bd::Instructions::avx512);
  REQUIRE(narrow.size() == wide.size());
  for (std::size_t i = 0; i < wide.size(); ++i) {
    CHECK(narrow[i].target == wide[i].target);
    CHECK(narrow[i].score == wide[i].score);
    CHECK(narrow[i].log_probs == wide[i].log_probs);
    REQUIRE(narrow[i].attention.size() == wide[i].attention.size());
    CHECK(std::memcmp(narrow[i].attention.data(), wide[i].attention.data(),
                      wide[i].attention.size() * sizeof(float)) == 0);
  }
}

}  // namespace

TEST_CASE("a translation has the same bits with AVX2 and with AVX-512", "[decode][kernel][bits]") {
  const auto there = bd::test::levels();
  if (there.back() != bd::Instructions::avx512 || there.front() == bd::Instructions::avx512) {
    WARN("not checked: this processor, or this build, has one of them alone");
    return;
  }
  // Widths that fill no vector, and one that products cut in two.
  check_levels<bd::Gru, bd::Additive>(21, 37);
  check_levels<bd::Gru, bd::Additive>(64, 530);
  check_levels<bd::Lstm, bd::ScaledDot>(21, 37);
}
