#include "golden/agreement.hpp"
#include "support/backends.hpp"

namespace bd = bahdanau;

TEMPLATE_TEST_CASE("coverage gives PyTorch's numbers", "[golden]", TEST_BACKENDS) {
  golden::check_family<bd::EncoderDecoder<bd::Gru, bd::Coverage<bd::Additive>, TestType, bd::Bidirectional>>(
      "coverage");
}
