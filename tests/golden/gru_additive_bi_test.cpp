#include "golden/agreement.hpp"
#include "support/backends.hpp"

namespace bd = bahdanau;

TEMPLATE_TEST_CASE("Gru with Additive and an encoder of both directions gives PyTorch's numbers", "[golden]",
                   TEST_BACKENDS) {
  golden::check_agreement<bd::EncoderDecoder<bd::Gru, bd::Additive, TestType, bd::Bidirectional>>(
      "gru_additive_bi");
}
