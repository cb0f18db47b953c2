// Policies of a stranger's in models of all kinds: built, checked, trained, saved, loaded and searched with.
#include "../docs/own_policies.hpp"

#include <string>

#include "family/laws.hpp"
#include "support/backends.hpp"
#include "support/catch.hpp"
#include "support/message.hpp"

namespace bd = bahdanau;
using namespace bd::test;

TEST_CASE("a stranger's score with a state, encoder, decoder and readout make a model", "[policies]") {
  check_laws<bd::EncoderDecoder<bd::Gru, own::Forgetful, TestBackend<double>, own::Gated, own::Skipping,
                                own::Fading>>();
}

TEST_CASE("a score's states go with decoders that attend after their step", "[policies]") {
  check_laws<bd::EncoderDecoder<bd::Lstm, own::Forgetful, TestBackend<double>, bd::InputFeeding>>();
}

TEST_CASE("a score may carry a number for each query", "[policies]") {
  check_laws<bd::EncoderDecoder<bd::Gru, own::Moving, TestBackend<double>, bd::Bidirectional>>();
}

TEST_CASE("a score may make contexts of a width of its own", "[policies]") {
  check_laws<bd::EncoderDecoder<bd::Gru, own::Twofold, TestBackend<double>, bd::ConcatReadout>>();
}
