#include "golden/agreement.hpp"
#include "support/backends.hpp"

namespace bd = bahdanau;

TEMPLATE_TEST_CASE("a tanh readout without a context gives PyTorch's numbers", "[golden]", TEST_BACKENDS) {
  golden::check_family<
      bd::EncoderDecoder<bd::Gru, bd::NoScore, TestType, bd::Bidirectional, bd::Plain, bd::TanhReadout>>(
      "plain_tanh");
}
