#include "golden/agreement.hpp"
#include "support/backends.hpp"

namespace bd = bahdanau;

TEMPLATE_TEST_CASE("Lstm with Additive and an encoder of one direction gives PyTorch's numbers", "[golden]",
                   TEST_BACKENDS) {
  golden::check_agreement<bd::EncoderDecoder<bd::Lstm, bd::Additive, TestType>>("lstm_additive_uni");
}
