#include "golden/agreement.hpp"
#include "support/backends.hpp"

namespace bd = bahdanau;

TEMPLATE_TEST_CASE("Gehring's model gives PyTorch's numbers", "[golden]", TEST_BACKENDS) {
  golden::check_family<bd::EncoderDecoder<bd::Lstm, bd::General, TestType, bd::Convolutional<2, 3>>>(
      "gehring");
}
