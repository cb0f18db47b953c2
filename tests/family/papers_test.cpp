// The models of the papers, and policies in combinations that no paper has, as laws of all models.
#include <string>

#include "family/laws.hpp"
#include "support/backends.hpp"
#include "support/catch.hpp"
#include "support/message.hpp"

namespace bd = bahdanau;
using namespace bd::test;

TEST_CASE("RNNsearch keeps the laws of all models", "[family]") {
  check_laws<bd::models::RnnSearch<TestBackend<double>>>({.bridge = bd::Bridge::backward}, 1);
}

TEST_CASE("Luong's model keeps the laws of all models", "[family]") {
  check_laws<bd::models::Luong<TestBackend<double>>>();
}

TEST_CASE("Luong's model without input feeding, with tied embeddings, keeps the laws", "[family]") {
  check_laws<bd::EncoderDecoder<bd::GruResetBefore, bd::Dot, TestBackend<double>, bd::StepThenAttend,
                                bd::TanhReadout>>({.tied = true});
}

TEST_CASE("a mean bridge and a deep output after the step keep the laws", "[family]") {
  check_laws<
      bd::EncoderDecoder<bd::Lstm, bd::General, TestBackend<double>,
                         bd::DeepOutput<3, bd::OutputState::after>, bd::InputFeeding, bd::Bidirectional>>(
      {.bridge = bd::Bridge::mean});
}
