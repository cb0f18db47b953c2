#include "golden/agreement.hpp"
#include "support/backends.hpp"

namespace bd = bahdanau;

TEMPLATE_TEST_CASE("a conditional LSTM gives PyTorch's numbers", "[golden]", TEST_BACKENDS) {
  golden::check_family<
      bd::EncoderDecoder<bd::Lstm, bd::ScaledDot, TestType, bd::Conditional, bd::ConcatReadout>>(
      "conditional");
}
