#include "golden/agreement.hpp"
#include "support/backends.hpp"

namespace bd = bahdanau;

TEMPLATE_TEST_CASE("Lstm with ScaledDot and an encoder of one direction gives PyTorch's numbers", "[golden]",
                   TEST_BACKENDS) {
  golden::check_agreement<bd::EncoderDecoder<bd::Lstm, bd::ScaledDot, TestType>>("lstm_scaled_dot_uni");
}
