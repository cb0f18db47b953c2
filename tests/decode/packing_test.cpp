// Whether weights are laid out before their products is a property that a backend has when the program runs.
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include <bahdanau/bahdanau.hpp>

#include "support/catch.hpp"
#include "support/sequences.hpp"

namespace bd = bahdanau;

namespace {

struct Switched : bd::Xtensor<float> {
  inline static bool on = true;
  inline static std::size_t packed = 0;
  static bool packs() { return on; }
  static void pack(bd::Transpose op, std::size_t k, std::size_t n, const float* b, std::size_t ldb,
                   float* to) {
    ++packed;
    bd::Xtensor<float>::pack(op, k, n, b, ldb, to);
  }
};
static_assert(bd::PackingBackend<Switched>);

}  // namespace

TEST_CASE("a backend that packs and one that does not translate and train alike", "[decode][backend]") {
  const bd::Vocabularies words = bd::test::numbered(40, 40, 8);
  const std::vector<std::string> sentences{"4 5 6", "7 8", "9 10 11 12 13"};
  const std::vector<std::vector<bd::Token>> rows{{4, 5, 6, 3}, {7, 8, 3}};
  const bd::Batch batch{bd::Sequences::from_rows(rows), bd::Sequences::from_rows(rows)};
  std::vector<bd::Translation> translated[2];
  double loss[2];
  for (const bool on : {true, false}) {
    Switched::on = on;
    Switched::packed = 0;
    bd::EncoderDecoder<bd::Gru, bd::Additive, Switched> model({.embed = 24, .hidden = 40, .layers = 2}, words,
                                                              3);
    translated[on] = model.translate(sentences, bd::Beam{.width = 2});
    bd::Training training(model, bd::Adam{.rate = 0.01}, {.clip = 1});
    for (int step = 0; step < 3; ++step) {
      loss[on] = training.loss(batch).nats;
      training.backward();
      training.step();
    }
    CHECK((Switched::packed > 0) == on);
  }
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    CHECK(translated[0][i].target == translated[1][i].target);
    CHECK(std::abs(translated[0][i].score - translated[1][i].score) < 1e-5);
  }
  CHECK(loss[0] == Approx(loss[1]).epsilon(1e-5));
}
